import type { IncomingMessage, ServerResponse } from "node:http";

import { realSystem } from "@quartermaster/runtime";
import { type Distribution, type EngineClient, EngineError, restEngine } from "@quartermaster/search";
import { describe, expect, test } from "vitest";

import { type EngineCall, engineReads } from "../../../src/engine/engine-client.ts";
import { greenHealth, type HostileEngine, json, startHostileEngine } from "../../support/hostile-engine.ts";

const connect = restEngine({ system: realSystem() });
const node = "os-a-0";

/** What the call comes to: the code of its error, or its value. */
async function outcomeOf(
  engine: HostileEngine,
  call: (client: EngineClient) => Promise<unknown>,
  distribution: Distribution = "opensearch",
): Promise<unknown> {
  const client = connect({ ...engine.target, distribution });
  try {
    return { value: await call(client) };
  } catch (error) {
    if (error instanceof EngineError) return error.code;
    throw error;
  } finally {
    await client.close();
  }
}

type Paths = Readonly<Record<string, unknown>>;

/** Responds by the beginning of the path. */
function byPath(paths: Paths) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const [, body] = Object.entries(paths).find(([path]) => (request.url ?? "").startsWith(path)) ?? [];
    json(body ?? {}, body === undefined ? 404 : 200)(request, response);
  };
}

const info = { _nodes: { total: 2, failed: 0 }, cluster_name: "c" };
const aNode = { name: "a", version: "2.19.4", roles: ["data"] };
const members = { ...info, nodes: { ia: aNode, ib: { ...aNode, name: "b" } } };
const metadata = {
  cluster_coordination: {
    last_committed_config: ["ia", "ib"],
    voting_config_exclusions: [{ node_id: "ib", node_name: "b" }],
  },
};
const state = {
  cluster_name: "c",
  cluster_uuid: "U",
  cluster_manager_node: "ia",
  metadata,
  nodes: { ia: { name: "a" } },
};
const copy = { index: "x", shard: 0, primary: true, state: "STARTED", node: "ia", relocating_node: null };
const routing = (copies: unknown): Paths => ({
  "/_cluster/state": {
    nodes: { ia: { name: "a" } },
    routing_table: { indices: { x: { shards: { 0: copies } } } },
  },
});
const load = {
  name: "a",
  indices: { docs: { count: 1 }, store: { size_in_bytes: 1 }, shards: { x: [{}] } },
  fs: { total: { total_in_bytes: 10, available_in_bytes: 5 } },
  jvm: { mem: { heap_used_percent: 1 } },
  process: { cpu: { percent: 1 } },
};
const documents = ["config", "internalusers", "roles", "rolesmapping", "actiongroups", "tenants"];
const found = documents.map((_id) => ({ _id, found: true }));
const unassigned = { error: { type: "no_shard_available_action_exception" } };

interface Row {
  readonly name: string;
  readonly paths: Paths;
  readonly call: (client: EngineClient) => Promise<unknown>;
  readonly want: string;
  readonly distribution?: Distribution;
}

const health = (client: EngineClient): Promise<unknown> => client.health();
const nodes = (client: EngineClient): Promise<unknown> => client.nodes();
const coordination = (client: EngineClient): Promise<unknown> => client.coordination();
const shards = (client: EngineClient): Promise<unknown> => client.shards();
const security = (client: EngineClient): Promise<unknown> => client.hasSecurityIndex();
const without = (key: string, from: object): object =>
  Object.fromEntries(Object.entries(from).filter(([name]) => name !== key));

/** Responses with HTTP 200 that say less than they should. */
const partial: readonly Row[] = [
  {
    name: "a health that timed out",
    paths: { "/_cluster/health": { ...greenHealth, timed_out: true } },
    call: health,
    want: "timeout",
  },
  ...Object.keys(greenHealth).map((key) => ({
    name: `a health without ${key}`,
    paths: { "/_cluster/health": without(key, greenHealth) },
    call: health,
    want: "unreadable",
  })),
  ...[1, 2].map((failed) => ({
    name: `a list of nodes that lacks ${String(failed)} of two`,
    paths: { "/_nodes": { ...members, _nodes: { total: 2, failed } }, "/_cluster/state": state },
    call: nodes,
    want: "unavailable",
  })),
  {
    name: "a list of nodes without a count of failures",
    paths: { "/_nodes": without("_nodes", members), "/_cluster/state": state },
    call: nodes,
    want: "unreadable",
  },
  {
    name: "a node without a name",
    paths: { "/_nodes": { ...members, nodes: { ia: { version: "2" } } }, "/_cluster/state": state },
    call: nodes,
    want: "unreadable",
  },
  {
    name: "coordination without metadata",
    paths: { "/_cluster/state": without("metadata", state) },
    call: coordination,
    want: "unreadable",
  },
  {
    name: "coordination without voters",
    paths: { "/_cluster/state": { ...state, metadata: { cluster_coordination: { term: 1 } } } },
    call: coordination,
    want: "unreadable",
  },
  {
    name: "a vote exclusion without a name beside one with a name",
    paths: {
      "/_cluster/state": {
        ...state,
        metadata: {
          cluster_coordination: {
            last_committed_config: ["ia"],
            voting_config_exclusions: [{ node_name: "b" }, { node_id: "x" }],
          },
        },
      },
    },
    call: coordination,
    want: "unreadable",
  },
  {
    name: "no routing table and no nodes",
    paths: { "/_cluster/state": { cluster_name: "c" } },
    call: shards,
    want: "unreadable",
  },
  { name: "a shard without copies", paths: routing({}), call: shards, want: "unreadable" },
  {
    name: "a started copy without a node beside a good one",
    paths: routing([copy, { ...copy, node: null }]),
    call: shards,
    want: "unreadable",
  },
  {
    name: "an unassigned copy on a node",
    paths: routing([{ ...copy, state: "UNASSIGNED" }]),
    call: shards,
    want: "unreadable",
  },
  {
    name: "settings without the transient ones",
    paths: { "/_cluster/settings": { persistent: {} } },
    call: (client) => client.settings(),
    want: "unreadable",
  },
  {
    name: "settings without the persistent ones",
    paths: { "/_cluster/settings": { transient: {} } },
    call: (client) => client.settings(),
    want: "unreadable",
  },
  {
    name: "statistics that lack one of two nodes",
    paths: { "/_nodes/stats": { _nodes: { total: 2, failed: 1 }, nodes: { ia: load } } },
    call: (client) => client.nodeLoad(),
    want: "unavailable",
  },
  ...["indices", "fs", "jvm", "process"].map((key) => ({
    name: `statistics of a node without ${key}`,
    paths: { "/_nodes/stats": { _nodes: { total: 1, failed: 0 }, nodes: { ia: without(key, load) } } },
    call: (client: EngineClient): Promise<unknown> => client.nodeLoad(),
    want: "unreadable",
  })),
  {
    name: "an index without settings",
    paths: { "/_all/_settings": { x: {} } },
    call: (client) => client.indices(),
    want: "unreadable",
  },
  {
    name: "security of which a document cannot be read",
    paths: { "/.opendistro_security": { docs: [...found.slice(1), unassigned] } },
    call: security,
    want: "unavailable",
  },
  {
    name: "security of which no document can be read",
    paths: { "/.opendistro_security": { docs: found.map(() => unassigned) } },
    call: security,
    want: "unavailable",
  },
  {
    name: "security with fewer documents than were requested",
    paths: { "/.opendistro_security": { docs: found.slice(1) } },
    call: security,
    want: "unreadable",
  },
  {
    name: "users that are no object",
    paths: { "/_plugins/_security/api/roles": { r: "x" } },
    call: (client) => client.entities("roles"),
    want: "unreadable",
  },
  {
    name: "a repository without a type",
    paths: { "/_snapshot": { a: { settings: {} } } },
    call: (client) => client.repositories(),
    want: "unreadable",
  },
  {
    name: "a license without a uid",
    paths: { "/_license": { license: { type: "basic", status: "active" } } },
    call: (client) => client.license(),
    want: "unreadable",
    distribution: "elasticsearch",
  },
  {
    name: "a license of an unknown status",
    paths: { "/_license": { license: { uid: "b", type: "basic", status: "pending" } } },
    call: (client) => client.license(),
    want: "unreadable",
    distribution: "elasticsearch",
  },
  {
    name: "a certificate without an end",
    paths: { "/_plugins/_security/api/ssl/certs": { transport_certificates_list: [{}] } },
    call: (client) => client.transportCertificateEndMs(node),
    want: "unreadable",
  },
  {
    name: "an explanation of another index",
    paths: { "/_cluster/allocation/explain": { index: "y", current_state: "started" } },
    call: (client) => client.explain({ index: "x", shard: 0, isPrimary: true, node: "a" }),
    want: "unreadable",
  },
];

/** Writes to which the engine responds with HTTP 200 although they are not done. */
const repository = { name: "r", type: "fs", settings: {} };
const init = Object.fromEntries(documents.map((type) => [type, {}])) as never;
const bulk = (statuses: readonly number[]): object => ({
  items: documents.map((_id, at) => ({ create: { _id, status: statuses[at] ?? 201 } })),
});
const fit = (client: EngineClient): Promise<unknown> =>
  client.fitReplicas({ template: "t", pattern: "a-*", indices: ["a-1"] });
const refused = { acknowledged: false };
const accepted = { acknowledged: true };
const writes: readonly Row[] = [
  ...[refused, {}, { acknowledged: "true" }].flatMap((body) => [
    {
      name: `settings: ${JSON.stringify(body)}`,
      paths: { "/_cluster/settings": body },
      call: (client: EngineClient) => client.putSettings({}),
      want: wantOf(body),
    },
    {
      name: `an index template: ${JSON.stringify(body)}`,
      paths: { "/_index_template": body, "/a-1": accepted },
      call: fit,
      want: wantOf(body),
    },
    {
      name: `settings of indices: ${JSON.stringify(body)}`,
      paths: { "/_index_template": accepted, "/a-1": body },
      call: fit,
      want: wantOf(body),
    },
    {
      name: `a repository: ${JSON.stringify(body)}`,
      paths: { "/_snapshot": body },
      call: (client: EngineClient) => client.putRepository(repository),
      want: wantOf(body),
    },
    {
      name: `a repository that goes: ${JSON.stringify(body)}`,
      paths: { "/_snapshot": body },
      call: (client: EngineClient) => client.deleteRepository("r"),
      want: wantOf(body),
    },
    {
      name: `the security index: ${JSON.stringify(body)}`,
      paths: { "/.opendistro_security/_bulk": bulk([]), "/.opendistro_security": body },
      call: (client: EngineClient) => client.initSecurity(init),
      want: wantOf(body),
    },
  ]),
  ...[429, 500, 503].map((status) => ({
    name: `security of which a document was not written: ${String(status)}`,
    paths: { "/.opendistro_security/_bulk": bulk([201, status]), "/.opendistro_security": accepted },
    call: (client: EngineClient) => client.initSecurity(init),
    want: "unavailable",
  })),
  {
    name: "security with fewer results than documents",
    paths: { "/.opendistro_security/_bulk": { items: [] }, "/.opendistro_security": accepted },
    call: (client) => client.initSecurity(init),
    want: "unavailable",
  },
];

function wantOf(body: object): string {
  return body === refused ? "timeout" : "unreadable";
}

describe("what an engine in trouble responds with HTTP 200 is an error", () => {
  test.each([...partial, ...writes])("$name", async ({ paths, call, want, distribution }) => {
    await using engine = await startHostileEngine();
    engine.response = byPath(paths);
    expect(await outcomeOf(engine, call, distribution)).toBe(want);
  });
});

/** One call of each kind. */
const calls = {
  identity: (client) => client.identity(node),
  health,
  nodes,
  shards,
  coordination,
  settings: (client) => client.settings(),
  nodeLoad: (client) => client.nodeLoad(),
  indices: (client) => client.indices(),
  explain: (client) => client.explain({ index: "x", shard: 0, isPrimary: true, node: undefined }),
  repositories: (client) => client.repositories(),
  transportCertificateEndMs: (client) => client.transportCertificateEndMs(node),
  isServing: (client) => client.isServing(node),
  hasSecurityIndex: security,
  entities: (client) => client.entities("roles"),
  license: (client) => client.license(),
} satisfies Partial<Record<EngineCall, (client: EngineClient) => Promise<unknown>>>;
const callNames = Object.keys(calls) as (keyof typeof calls)[];

const overload = { error: { type: "circuit_breaking_exception", reason: "[parent] Data too large" } };
const blocked = { error: { type: "cluster_block_exception", reason: "blocked by: no master" } };
const late = { error: { type: "process_cluster_event_timeout_exception", reason: "failed to process" } };
const troubles: readonly {
  readonly name: string;
  readonly status: number;
  readonly body: unknown;
  readonly want: string;
}[] = [
  { name: "429 of an overload", status: 429, body: overload, want: "unavailable" },
  { name: "503 without a manager", status: 503, body: blocked, want: "unavailable" },
  { name: "503 of an event that took too long", status: 503, body: late, want: "timeout" },
  { name: "408", status: 408, body: {}, want: "timeout" },
  { name: "500", status: 500, body: overload, want: "unavailable" },
  { name: "502", status: 502, body: {}, want: "unavailable" },
  { name: "504", status: 504, body: {}, want: "timeout" },
];

/** 503 is a fact for a node that is queried whether it serves: it does not. */
const isFact = (name: string, status: number): boolean => name === "isServing" && status === 503;
const readRows = (["opensearch", "elasticsearch"] as const).flatMap((distribution) =>
  callNames
    .filter((name) =>
      distribution === "opensearch"
        ? name !== "license"
        : !["transportCertificateEndMs", "hasSecurityIndex", "entities"].includes(name),
    )
    .flatMap((name) =>
      troubles
        .filter(({ status }) => !isFact(name, status))
        .map((trouble) => ({ distribution, call: name, trouble })),
    ),
);

describe("no read of an engine in trouble gives a fact", () => {
  test("every read has its rows", () => {
    expect(callNames.toSorted()).toEqual([...engineReads].toSorted());
  });

  test.each(readRows)("$distribution $call: $trouble.name", async ({ distribution, call, trouble }) => {
    await using engine = await startHostileEngine();
    engine.response = json(trouble.body, trouble.status);
    expect(await outcomeOf(engine, calls[call], distribution)).toBe(trouble.want);
  });

  test.each(["opensearch", "elasticsearch"] as const)(
    "%s: a node that responds with 503 does not serve",
    async (distribution) => {
      await using engine = await startHostileEngine();
      engine.response = json(blocked, 503);
      expect(await outcomeOf(engine, calls.isServing, distribution)).toEqual({ value: false });
    },
  );
});

describe("a whole response is a fact", () => {
  test.each<{
    readonly name: string;
    readonly paths: Paths;
    readonly call: Row["call"];
    readonly want: unknown;
  }>([
    {
      name: "two voters and one exclusion",
      paths: { "/_cluster/state": state },
      call: coordination,
      want: { clusterUuid: "U", voters: ["a", "ib"], exclusions: ["b"], elected: "a" },
    },
    {
      name: "a cluster without an index",
      paths: { "/_cluster/state": { nodes: { ia: { name: "a" } } } },
      call: shards,
      want: [],
    },
    {
      name: "security that is there",
      paths: { "/.opendistro_security": { docs: found } },
      call: security,
      want: true,
    },
    {
      name: "security of which a document is absent",
      paths: { "/.opendistro_security": { docs: [...found.slice(1), { _id: "config", found: false }] } },
      call: security,
      want: false,
    },
    {
      name: "a disk that a node does not report",
      paths: {
        "/_nodes/stats": { _nodes: { total: 1, failed: 0 }, nodes: { ia: { ...load, fs: { total: {} } } } },
      },
      call: async (client) =>
        (await client.nodeLoad()).map(({ diskTotalBytes, diskFreeBytes }) => [diskTotalBytes, diskFreeBytes]),
      want: [[undefined, undefined]],
    },
    {
      name: "a repository that is already deleted",
      paths: {},
      call: (client) => client.deleteRepository("r"),
      want: undefined,
    },
  ])("$name", async ({ paths, call, want }) => {
    await using engine = await startHostileEngine();
    engine.response = byPath(paths);
    expect(await outcomeOf(engine, call)).toEqual({ value: want });
  });
});
