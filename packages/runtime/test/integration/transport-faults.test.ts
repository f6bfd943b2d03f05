import { describe, expect, test } from "vitest";

import type { Client } from "../../src/client/client.ts";
import { ApiError } from "../../src/errors.ts";
import type { Observation } from "../../src/transport/transport.ts";
import { connect, type Connected } from "../support/connect.ts";
import { hurriedSystem } from "../support/hurried-system.ts";
import { type ConfigMap, configMaps } from "../support/kinds.ts";
import {
  cutBeforeResponse,
  cutInBody,
  deadAddress,
  html,
  json,
  type Reaction,
  type ScriptedServer,
  startScriptedServer,
  status,
  stayingSilent,
} from "../support/scripted-server.ts";

const object: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "n" } };
const ok = json(200, object);
const ref = { name: "a", namespace: "n" };
const overloaded = status(429, { reason: "TooManyRequests" }, { "retry-after": "1" });
const reads = async (client: Client): Promise<unknown> => await client.get(configMaps, ref);
const writes = async (client: Client): Promise<unknown> => await client.create(configMaps, object);

function connectTo(server: Pick<ScriptedServer, "url">): Connected {
  return connect({ server: server.url, system: hurriedSystem() });
}

async function errorOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await outcomeOf(promise);
  if (error instanceof ApiError) return error;
  throw new Error("no ApiError came", { cause: error });
}

async function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.catch((reason: unknown) => reason);
}

interface Row {
  readonly name: string;
  readonly script: readonly Reaction[];
  readonly call: (client: Client) => Promise<unknown>;
  readonly requests: number;
  /** Undefined: the call succeeds. */
  readonly want?: Partial<ApiError>;
}

const rows: readonly Row[] = [
  { name: "a read continues after 429 with Retry-After", script: [overloaded, ok], call: reads, requests: 2 },
  {
    name: "a write continues after 429 with Retry-After",
    script: [overloaded, ok],
    call: writes,
    requests: 2,
  },
  {
    name: "a write is not repeated after 429 without Retry-After: a disruption budget",
    script: [status(429, { reason: "TooManyRequests" })],
    call: writes,
    requests: 1,
    want: { class: "tooManyRequests", mayHaveActed: false },
  },
  {
    name: "an absurd Retry-After is bounded and not waited for beyond the deadline",
    script: [status(429, {}, { "retry-after": "1000000000" })],
    call: reads,
    requests: 1,
    want: { class: "tooManyRequests", retryAfterMs: 60_000 },
  },
  {
    name: "a read survives three 500s",
    script: [status(500), status(500), status(500), ok],
    call: reads,
    requests: 4,
  },
  {
    name: "a read gives up after 500 ten times",
    script: [status(500, { message: "etcd is tired" })],
    call: reads,
    requests: 5,
    want: { class: "transient", status: 500, message: "get ConfigMap n/a: 500 etcd is tired" },
  },
  {
    name: "a write is not repeated after 500",
    script: [status(500)],
    call: writes,
    requests: 1,
    want: { class: "transient", mayHaveActed: true },
  },
  {
    name: "a write continues after 503 with Retry-After of the API server itself",
    script: [status(503, { reason: "ServiceUnavailable" }, { "retry-after": "1" }), ok],
    call: writes,
    requests: 2,
  },
  {
    name: "a write is not repeated after 503 of another server",
    script: [html(503)],
    call: writes,
    requests: 1,
    want: { class: "transient", status: 503, mayHaveActed: true },
  },
  { name: "a read survives an HTML error page", script: [html(502), ok], call: reads, requests: 2 },
  {
    name: "an HTML page with 200 is not taken for an object",
    script: [html(200)],
    call: writes,
    requests: 1,
    want: { class: "transient", reason: "UnexpectedContentType", mayHaveActed: true },
  },
  { name: "a read survives a reset in mid-body", script: [cutInBody, ok], call: reads, requests: 2 },
  {
    name: "a write that was reset in mid-body may have acted and is not repeated",
    script: [cutInBody],
    call: writes,
    requests: 1,
    want: { class: "transient", mayHaveActed: true },
  },
  {
    name: "a read survives a reset before the response",
    script: [cutBeforeResponse, ok],
    call: reads,
    requests: 2,
  },
  {
    name: "a write that was reset before the response may have acted and is not repeated",
    script: [cutBeforeResponse],
    call: writes,
    requests: 1,
    want: { class: "transient", mayHaveActed: true },
  },
  {
    name: "truncated JSON is no object",
    script: [json(200, '{"kind":"ConfigMap","data":{"a":"secr')],
    call: writes,
    requests: 1,
    want: { class: "transient", reason: "BrokenJson", mayHaveActed: true, cause: undefined },
  },
  {
    name: "a conflict is not repeated",
    script: [status(409, { reason: "Conflict" })],
    call: writes,
    requests: 1,
    want: { class: "conflict" },
  },
];

describe("[runtime/RT-13] faults of the server and of the way to it", () => {
  test.each(rows)("$name", async ({ script, call, requests, want }) => {
    await using server = await startScriptedServer(...script);
    await using connected = connectTo(server);
    const result = call(connected.client);
    expect(await outcomeOf(result)).toMatchObject(want ?? object);
    expect(server.received).toHaveLength(requests);
  });

  test("a write is repeated when no connection could be made", async () => {
    const observed: Observation[] = [];
    await using connected = connect({
      server: await deadAddress(),
      system: hurriedSystem(),
      observe: (observation) => observed.push(observation),
    });
    const error = await errorOf(writes(connected.client));
    expect(error).toMatchObject({ class: "transient", reason: "ECONNREFUSED", mayHaveActed: false });
    expect(observed.map(({ code }) => code)).toEqual(Array.from({ length: 5 }, () => "<error>"));
  });

  test("silence ends at the deadline, and the write may have acted", async () => {
    await using server = await startScriptedServer(stayingSilent);
    await using connected = connectTo(server);
    const error = await errorOf(connected.client.create(configMaps, object, { timeoutMs: 1_000 }));
    expect(error).toMatchObject({ class: "timeout", mayHaveActed: true });
  });

  test("a caller that gives up is answered immediately", async () => {
    await using server = await startScriptedServer(stayingSilent);
    await using connected = connectTo(server);
    const controller = new AbortController();
    const call = errorOf(connected.client.get(configMaps, ref, { signal: controller.signal }));
    controller.abort(new Error("shutting down"));
    const error = await call;
    expect(error.class).toBe("aborted");
    expect(error.cause).toEqual(new Error("shutting down"));
  });

  test("a call that was given up before it began is never sent", async () => {
    await using server = await startScriptedServer(ok);
    await using connected = connectTo(server);
    const error = await errorOf(connected.client.get(configMaps, ref, { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ class: "aborted", mayHaveActed: false });
    expect(server.received).toHaveLength(0);
  });
});

describe("connections", () => {
  test("many calls at once share at most 64 connections, one after another two", async () => {
    await using server = await startScriptedServer(ok);
    await using connected = connectTo(server);
    for (let call = 0; call < 20; call += 1) await reads(connected.client);
    expect(server.connections).toBeLessThanOrEqual(2);
    await Promise.all(Array.from({ length: 300 }, async () => await reads(connected.client)));
    expect(server.connections).toBeLessThanOrEqual(64);
  });

  test("a response beyond 64 MiB is given up, and a list requests smaller pages", async () => {
    const flood: Reaction = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = Buffer.alloc(1024 * 1024, 32);
      const pour = (left: number): void => {
        if (left === 0) response.end();
        else response.write(chunk, () => pour(left - 1));
      };
      pour(70);
    };
    const page = json(200, { metadata: { resourceVersion: "5" }, items: [{ metadata: { name: "a" } }] });
    await using server = await startScriptedServer(flood, page);
    await using connected = connect({ server: server.url });
    expect(await Array.fromAsync(connected.client.list(configMaps))).toEqual([
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
    ]);
    expect(server.received.map(({ path }) => path)).toEqual([
      "/api/v1/configmaps?limit=500",
      "/api/v1/configmaps?limit=125",
    ]);
  });

  test.each([
    { name: "a transport that was used", isUsed: true },
    { name: "one that never was", isUsed: false },
  ])("nothing leaves after the end of $name", async ({ isUsed }) => {
    await using server = await startScriptedServer(ok);
    const connected = connectTo(server);
    const read = async (): Promise<unknown> => await connected.client.raw({ method: "GET", path: "/x" });
    if (isUsed) await read();
    await connected[Symbol.asyncDispose]();
    const facts = { class: "transient", reason: "UND_ERR_DESTROYED" };
    expect(await errorOf(read())).toMatchObject({ ...facts, mayHaveActed: false });
    const { signal } = new AbortController();
    const subject = { kind: "x" };
    expect(await errorOf(connected.transport.openStream("/w", { subject, signal }))).toMatchObject(facts);
    expect(server.received).toHaveLength(isUsed ? 1 : 0);
  });

  test("observations tell method, verb, code and sizes", async () => {
    await using server = await startScriptedServer(status(500), ok);
    const observed: Observation[] = [];
    await using connected = connect({
      server: server.url,
      system: hurriedSystem(),
      observe: (observation) => observed.push(observation),
    });
    await reads(connected.client);
    expect(observed.map(({ method, verb, code }) => `${method} ${verb} ${code}`)).toEqual([
      "GET get 500",
      "GET get 200",
    ]);
    expect(observed.at(-1)?.responseBytes).toBe(JSON.stringify(object).length);
  });
});

describe("streams", () => {
  const options = { subject: { kind: "ConfigMap" } };

  test("give bytes as they come and end when the server ends them", async () => {
    const stream: Reaction = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("one\n");
      setTimeout(() => response.end("two\n"), 10);
    };
    await using server = await startScriptedServer(stream);
    await using connected = connectTo(server);
    const { body, status: code } = await connected.transport.openStream("/w", {
      ...options,
      signal: new AbortController().signal,
    });
    const chunks = await Array.fromAsync(body);
    expect([code, Buffer.concat(chunks).toString()]).toEqual([200, "one\ntwo\n"]);
  });

  const failing = [
    {
      name: "a refusal is an error of its class",
      reaction: status(410, { reason: "Expired" }),
      want: { class: "gone" },
    },
    { name: "a cut stream is transient", reaction: cutInBody, want: { class: "transient" } },
    { name: "silence before the response is a timeout", reaction: stayingSilent, want: { class: "timeout" } },
  ];
  test.each(failing)("$name", async ({ reaction, want }) => {
    await using server = await startScriptedServer(reaction);
    await using connected = connectTo(server);
    const { signal } = new AbortController();
    const read = async (): Promise<unknown> => {
      const { body } = await connected.transport.openStream("/w", { ...options, signal, timeoutMs: 2_000 });
      return await Array.fromAsync(body);
    };
    expect(await errorOf(read())).toMatchObject(want);
  });

  test("end with the caller's signal, whatever the server does", async () => {
    const begin: Reaction = (response) => {
      response.writeHead(200);
      response.write("x");
    };
    await using server = await startScriptedServer(begin);
    await using connected = connectTo(server);
    const controller = new AbortController();
    const { body } = await connected.transport.openStream("/w", { ...options, signal: controller.signal });
    const read = errorOf(Array.fromAsync(body));
    controller.abort();
    expect((await read).class).toBe("aborted");
  });
});
