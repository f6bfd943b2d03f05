import type { IncomingMessage } from "node:http";
import { request } from "node:https";

import { ApiClient } from "@quartermaster/local-cluster";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import {
  aConfigMap,
  conflict,
  eventually,
  expired,
  goSilentAfter,
  htmlPage,
  isWritePoint,
  joinSharedCluster,
  makeNamespace,
  refused,
  serverError,
  startFaultProxy,
  tooManyRequests,
} from "../../src/index.ts";
import type { Fault, FaultProxy, TestNamespace } from "../../src/index.ts";

const cluster = joinSharedCluster();
let proxy: FaultProxy;
let client: ApiClient;
let namespace: TestNamespace;

beforeAll(async () => {
  proxy = await startFaultProxy({ upstream: cluster.admin });
  client = new ApiClient({ ...proxy.access, token: cluster.admin.token });
});
afterAll(async () => {
  client[Symbol.dispose]();
  await proxy[Symbol.asyncDispose]();
  cluster[Symbol.dispose]();
});
beforeEach(async () => {
  namespace = await makeNamespace(cluster.api);
});
afterEach(async () => {
  proxy.heal();
  await namespace[Symbol.asyncDispose]();
});

const path = (): string => `/api/v1/namespaces/${namespace.name}/configmaps`;
const create = async (name: string): Promise<number> =>
  (await client.send({ method: "POST", path: path(), body: aConfigMap({ name }), timeoutMs: 2000 })).status;
/** With the headers of the response, which the client does not give. */
async function fetched(url: string, body?: object): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { server, caPem } = proxy.access;
  const headers = { authorization: `Bearer ${cluster.admin.token}`, "content-type": "application/json" };
  const options = { ca: caPem, headers, agent: false, method: body === undefined ? "GET" : "POST" };
  const sent = request(new URL(url, server), options, resolve);
  sent.once("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
  const response = await promise;
  response.resume();
  return response;
}

const isThere = async (name: string): Promise<boolean> =>
  (await cluster.api.send({ path: `${path()}/${name}` })).status === 200;

describe("a fault proxy", () => {
  test("passes everything on while nothing is injected, and traces it", async () => {
    expect(await create("plain")).toBe(201);
    expect(await isThere("plain")).toBe(true);
    expect(proxy.trace.at(-1)).toMatchObject({
      verb: "create",
      resource: "configmaps",
      status: 201,
      fault: undefined,
    });
  });

  test.each([
    { name: "[faults/C1] kills before the write leaves", kind: "crash-before", isDone: false },
    {
      name: "[faults/C2] kills after the commit, the response is lost",
      kind: "crash-after-commit",
      isDone: true,
    },
  ] as const)("$name", async ({ kind, isDone }) => {
    let kills = 0;
    const injected = proxy.inject(isWritePoint, { kind, kill: () => (kills += 1) });
    await expect(create("struck")).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect(kills).toBe(1);
    expect((await injected.struck).verb).toBe("create");
    expect(await isThere("struck")).toBe(isDone);
    expect(await create("next")).toBe(201);
  });

  test("[faults/C3] kills after the response was delivered, and nothing is passed on in between", async () => {
    let kills = 0;
    proxy.inject(isWritePoint, { kind: "crash-after-answer", kill: () => (kills += 1) });
    expect(await create("delivered")).toBe(201);
    await expect(create("too-late")).rejects.toThrow(/socket|ECONNRESET|closed/i);
    await eventually(() => kills === 1);
    await eventually(async () => (await create("by-the-next")) === 201);
    expect(await isThere("too-late")).toBe(false);
  });

  test("I1 lets another client act between our read and our write, which then meets what that client did", async () => {
    const interleaved: string[] = [];
    const injected = proxy.inject(isWritePoint, {
      kind: "interleave",
      act: async ({ name, verb, body }) => {
        interleaved.push(`${verb} ${name ?? "?"} ${body.includes('"taken"') ? "taken" : "other"}`);
        await cluster.api.send({ method: "POST", path: path(), body: aConfigMap({ name: "taken" }) });
      },
    });
    expect(await create("taken")).toBe(409);
    expect(injected.hits).toBe(1);
    expect(interleaved).toEqual(["create taken taken"]);
    expect(proxy.trace.at(-1)).toMatchObject({ fault: "interleave", status: 409 });
    expect(await create("next")).toBe(201);
  });

  test.each<{ readonly name: string; readonly fault: Fault; readonly status: number }>([
    { name: "[faults/E1] responds 409", fault: conflict(), status: 409 },
    { name: "E7: responds 403", fault: refused(403), status: 403 },
    { name: "W5: responds 410", fault: expired(), status: 410 },
  ])("$name once instead of the write", async ({ fault, status }) => {
    proxy.inject(isWritePoint, fault);
    expect(await create("refused")).toBe(status);
    expect(await isThere("refused")).toBe(false);
    expect(await create("refused")).toBe(201);
  });

  test("[faults/E2] responds 429 with a short, long, absurd and missing Retry-After", async () => {
    for (const retryAfter of [1, 30, 1e9, undefined]) {
      proxy.inject(isWritePoint, tooManyRequests(retryAfter));
      const { statusCode, headers } = await fetched(path(), aConfigMap({ name: "throttled" }));
      expect([statusCode, headers["retry-after"]]).toEqual([429, retryAfter?.toString()]);
    }
    expect(await isThere("throttled")).toBe(false);
    expect(await create("throttled")).toBe(201);
  });

  test.each([500, 503] as const)(
    "[faults/E3] responds %i once, ten times, or until it is healed",
    async (status) => {
      for (const times of [1, 10]) {
        proxy.inject(isWritePoint, serverError(status), times);
        for (let time = 1; time <= times; time += 1) expect(await create("failing")).toBe(status);
        expect(await create(`after-${times}`)).toBe(201);
      }
      const lasting = proxy.inject(isWritePoint, serverError(status), Number.POSITIVE_INFINITY);
      for (let time = 1; time <= 30; time += 1) expect(await create("failing")).toBe(status);
      expect(lasting.hits).toBe(30);
      expect(await isThere("failing")).toBe(false);
      proxy.heal();
      expect(await create("failing")).toBe(201);
    },
  );

  test.each([
    { id: "E4", kind: "hold-request", isDone: false },
    { id: "E5", kind: "hold-answer", isDone: true },
  ] as const)("$id times out; the server has acted: $isDone", async ({ kind, isDone }) => {
    proxy.inject(isWritePoint, { kind });
    await expect(create("held")).rejects.toThrow(/abort/i);
    expect(await isThere("held")).toBe(isDone);
  });

  test("[faults/E6] resets the connection in mid-body, truncates JSON, mislabels it and responds HTML", async () => {
    await create("whole");
    const isGet = ({ verb }: { readonly verb: string }): boolean => verb === "get";
    proxy.inject(isGet, { kind: "cut-answer", afterBytes: 20 });
    await expect(client.send({ path: `${path()}/whole` })).rejects.toThrow(/aborted|ECONNRESET/);
    proxy.inject(isGet, { kind: "truncate-answer", afterBytes: 20 });
    expect((await client.send({ path: `${path()}/whole` })).body).toHaveLength(20);
    proxy.inject(isGet, { kind: "mislabel-answer", contentType: "text/plain" });
    const mislabeled = await fetched(`${path()}/whole`);
    expect([mislabeled.statusCode, mislabeled.headers["content-type"]]).toEqual([200, "text/plain"]);
    proxy.inject(isGet, htmlPage());
    const page = await fetched(`${path()}/whole`);
    expect([page.statusCode, page.headers["content-type"]]).toEqual([502, "text/html"]);
  });

  test("W6 lets a watch fall silent with its connection open", async () => {
    const injected = proxy.inject(({ verb }) => verb === "watch", {
      kind: "watch",
      transform: goSilentAfter(1),
    });
    const watching = client.send({ path: `${path()}?watch=true`, timeoutMs: 1500 });
    await injected.struck;
    await create("first");
    await create("second");
    await expect(watching).rejects.toThrow(/abort/i);
    expect(injected.hits).toBe(1);
  });
});
