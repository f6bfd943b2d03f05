import type { ServerResponse } from "node:http";

import { VirtualSystem } from "@quartermaster/runtime/testing";
import { type Distribution, type EngineClient, EngineError, restEngine } from "@quartermaster/search";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type EngineCall, engineCalls, engineReads } from "../../../src/engine/engine-client.ts";
import { type Reply, type HostileEngine, json, startHostileEngine } from "../../support/hostile-engine.ts";
import { TestCa } from "../../support/test-certificates.ts";

const repository = { name: "r", type: "fs", settings: {} };
const documents = {
  config: {},
  internalusers: {},
  roles: {},
  rolesmapping: {},
  actiongroups: {},
  tenants: {},
};
const node = "os-a-0";
const ack = { acknowledge: true };

interface Write {
  readonly call: (client: EngineClient) => Promise<unknown>;
  readonly distribution?: Distribution;
  /** Reads that come first, by the beginning of the path; the write is the request after them. */
  readonly before?: { readonly path: string; readonly body: object; readonly status: number };
}

const trialLeft = { path: "/_license/trial_status", body: { eligible_to_start_trial: true }, status: 200 };
const noEntity = { path: "/_plugins/_security/api/roles/a", body: {}, status: 404 };
const entity = { ...noEntity, body: { a: {} }, status: 200 };

const writes: Readonly<Partial<Record<EngineCall, Write>>> = {
  putSettings: { call: (client) => client.putSettings({ persistent: { a: "1" } }) },
  excludeVotes: { call: (client) => client.excludeVotes(["a"]) },
  clearVoteExclusions: { call: (client) => client.clearVoteExclusions() },
  flush: { call: (client) => client.flush() },
  fitReplicas: { call: (client) => client.fitReplicas({ template: "t", pattern: "a-*", indices: ["a-1"] }) },
  putRepository: { call: (client) => client.putRepository(repository) },
  verifyRepository: { call: (client) => client.verifyRepository("r") },
  deleteRepository: { call: (client) => client.deleteRepository("r") },
  reloadCertificates: { call: (client) => client.reloadCertificates(node, "http") },
  initSecurity: { call: (client) => client.initSecurity(documents) },
  putEntity: { call: (client) => client.putEntity("roles", "a", {}), before: noEntity },
  deleteEntity: { call: (client) => client.deleteEntity("roles", "a"), before: entity },
  putLicense: { call: (client) => client.putLicense({}, ack), distribution: "elasticsearch" },
  startTrial: { call: (client) => client.startTrial(ack), distribution: "elasticsearch", before: trialLeft },
  startBasic: { call: (client) => client.startBasic(ack), distribution: "elasticsearch" },
};

function cut(response: ServerResponse, text: string, length: number): void {
  response.writeHead(200, { "content-type": "application/json", "content-length": String(length) });
  response.write(text);
}

const overload = { error: { type: "circuit_breaking_exception", reason: "[parent] Data too large" } };
const faults: readonly {
  readonly name: string;
  readonly response: Reply;
  readonly codes: readonly string[];
  /** Nothing comes: the time has to pass. */
  readonly isSilent?: boolean;
}[] = [
  { name: "no response in time", response: () => undefined, codes: ["timeout"], isSilent: true },
  { name: "429", response: json(overload, 429), codes: ["unavailable"] },
  // Of a reload, 500 speaks of the files.
  { name: "500", response: json(overload, 500), codes: ["unavailable", "invalid"] },
  { name: "503", response: json(overload, 503), codes: ["unavailable"] },
  { name: "504", response: json({}, 504), codes: ["timeout"] },
  {
    name: "a reset before the response",
    response: (request) => request.socket.destroy(),
    codes: ["unreachable"],
  },
  {
    name: "a reset in the middle of the body",
    response: (request, response) => {
      cut(response, '{"acknowledged":', 100);
      setImmediate(() => request.socket.destroy());
    },
    codes: ["unreachable"],
  },
  {
    name: "JSON that stops",
    response: (_request, response) => {
      const text = '{"acknowledged":true,"license_status":"val';
      cut(response, text, text.length);
      response.end();
    },
    codes: ["unreadable"],
  },
];

/** Two nodes with one CA; a handshake costs more than everything else here, so that all rows share them. */
let engines: readonly HostileEngine[] = [];

beforeAll(async () => {
  const ca = await TestCa.create();
  engines = [await startHostileEngine({ node, ca }), await startHostileEngine({ node: "os-a-1", ca })];
});

afterAll(async () => {
  await Promise.all(engines.map(async (engine) => await engine[Symbol.asyncDispose]()));
});

/** Has both nodes give the response to the write. Resolves with its first request; then come the requests since, without the reads ahead of it. */
function responding({ before }: Write, reply: Reply): { first: Promise<undefined>; lines: string[] } {
  const { promise: first, resolve } = Promise.withResolvers<undefined>();
  const lines: string[] = [];
  for (const engine of engines)
    engine.response = (request, response) => {
      const line = `${request.method ?? ""} ${request.url ?? ""}`;
      if (before !== undefined && line.startsWith(`GET ${before.path}`)) {
        json(before.body, before.status)(request, response);
        return;
      }
      lines.push(line);
      reply(request, response);
      resolve(undefined);
    };
  return { first, lines };
}

const rows = Object.entries(writes).flatMap(([call, write]) =>
  faults.map((fault) => ({ call, write, fault })),
);

describe("a write that an engine in trouble may have carried out", () => {
  test("every write has its rows", () => {
    const known = engineCalls.filter((call) => !engineReads.includes(call));
    expect(Object.keys(writes).toSorted()).toEqual(known.toSorted());
  });

  test.each(rows)("$call, $fault.name: is no success and is sent once", async ({ write, fault }) => {
    const { first, lines } = responding(write, fault.response);
    const { distribution = "opensearch" } = write;
    const endpoints = engines.flatMap(({ target }) => target.endpoints);
    const system = new VirtualSystem();
    const connect = restEngine({ system });
    const tls = engines[0]?.target.tls;
    const client = connect({ distribution, endpoints, tls, login: undefined });
    const ending = write.call(client).then(
      (value) => ({ value }),
      (error: unknown) => error,
    );
    await first;
    if (fault.isSilent === true) await system.advance(30_000);
    const end = await ending;
    await client.close();
    expect(end).toBeInstanceOf(EngineError);
    expect(fault.codes).toContain((end as EngineError).code);
    expect((end as EngineError).mayHaveActed).toBe(true);
    expect(lines).toHaveLength(1);
  });
});
