import { openSearchCluster } from "@quartermaster/api";
import { digestOf } from "@quartermaster/runtime";
import { secrets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { EngineRepository } from "../../../src/engine/engine-facts.ts";
import type { SearchAction } from "../../../src/search-action.ts";
import { type BenchOptions, performBench, type PerformBench } from "../../support/perform-bench.ts";
import { type EngineActionKind, performed, type PerformRow, wanted } from "../../support/perform-rows.ts";

const record = "apply Secret team/logs-security-applied";
const recordRef = { namespace: "team", name: "logs-security-applied" };
const body = { description: "a" };

/** The record of what was applied, as the operator writes it. */
function recordOf(applied: object): NonNullable<BenchOptions["objects"]>[number] {
  const data = { applied: Buffer.from(JSON.stringify(applied)).toString("base64") };
  const owner = {
    apiVersion: "opensearch.org/v1",
    kind: "OpenSearchCluster",
    name: "logs",
    uid: "uid-logs",
    controller: true,
  };
  const metadata = { ...recordRef, ownerReferences: [owner] };
  return { kind: secrets, object: { apiVersion: "v1", kind: "Secret", metadata, data } };
}

function appliedIn({ api }: PerformBench): { readonly entities?: object; readonly hashes?: object } {
  const live = api.read<{
    apiVersion: string;
    kind: string;
    metadata: { name: string };
    data: Record<string, string>;
  }>(secrets, recordRef);
  const text = Buffer.from(live?.data["applied"] ?? "", "base64").toString();
  return text === "" ? {} : (JSON.parse(text) as object);
}

const roles = (count: number): SearchAction => ({
  kind: "putEntities",
  entities: Array.from({ length: count }, (_, at) => ({
    type: "roles" as const,
    name: `r${String(at)}`,
    body,
  })),
});
const written = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `engine putEntity roles/r${String(at)}`);

const documents = {
  config: {},
  internalusers: {},
  roles: {},
  rolesmapping: {},
  actiongroups: {},
  tenants: {},
};
const drop: SearchAction = { kind: "deleteEntity", type: "roles", name: "r0" };
const repository = (name: string): EngineRepository => ({
  name,
  type: "fs",
  settings: { location: `/${name}` },
});
const uuid = "U";

function repositories(names: readonly string[]): BenchOptions {
  return {
    spec: { general: { snapshotRepositories: names.map(repository) } },
    status: {
      repositories: names.map((name) => ({
        name,
        digests: [digestOf({ uuid, type: "fs", settings: { location: `/${name}` } }).slice(0, 32)],
      })),
    },
  };
}

const settings: BenchOptions = {
  spec: { general: { clusterSettings: { "a.b": "1", "c.d": "2" } } },
  status: {
    clusterSettings: [
      ["a.b", "1"],
      ["c.d", "2"],
      ["e.f", "3"],
    ].map(([key = "", value = ""]) => ({
      name: key,
      digests: [digestOf({ uuid, key, value }).slice(0, 32)],
    })),
  },
  engine: { persistent: { "e.f": "3" } },
};

const license = { uid: "gold", type: "gold" };
const putLicense: SearchAction = {
  kind: "putLicense",
  uid: "gold",
  digest: "d",
  file: license,
  startMs: 0,
  warnsFirst: false,
};

/** Every action that writes to the engine has rows: the type says which are missing. */
const rows: Readonly<Record<EngineActionKind, readonly PerformRow[]>> = {
  reloadCertificates: [
    {
      name: "reloads both layers of a node, the second although the first failed",
      action: { kind: "reloadCertificates", node: "logs-nodes-0", layers: ["http", "transport"] },
      want: [
        "engine reloadCertificates logs-nodes-0 http",
        "engine reloadCertificates logs-nodes-0 transport",
      ],
      continues: ["engine reloadCertificates logs-nodes-0 transport"],
    },
    {
      name: "reloads the second layer although the node refuses the first",
      given: { engine: { refuses: { "reloadCertificates logs-nodes-0 http": "invalid" } } },
      action: { kind: "reloadCertificates", node: "logs-nodes-0", layers: ["http", "transport"] },
      want: [
        "engine reloadCertificates logs-nodes-0 http",
        "engine reloadCertificates logs-nodes-0 transport",
      ],
      continues: ["engine reloadCertificates logs-nodes-0 transport"],
    },
  ],
  initSecurity: [
    {
      name: "records entities after they were written",
      given: { engine: { hasSecurityIndex: false } },
      action: { kind: "initSecurity", documents: { ...documents, roles: { r0: body } } },
      want: ["engine initSecurity", record],
      // What was written is there then: the rules merge entities instead.
      isDecidedAgain: true,
    },
    {
      name: "writes nothing where another client has initialized security meanwhile",
      action: { kind: "initSecurity", documents },
      want: [],
      fails: "conflict",
    },
  ],
  putEntities: [
    ...[1, 2, 3, 4].map((count) => ({
      name: `writes ${String(count)} entities in their order, then records them`,
      action: roles(count),
      want: [...written(count), record],
      continues: [record],
    })),
    {
      name: "records the others where the engine refuses one",
      given: { engine: { refuses: { "putEntity roles/r1": "invalid" as const } } },
      action: roles(3),
      want: [...written(3), record],
      continues: ["engine putEntity roles/r2", record],
      fails: "SecurityRefused",
    },
    {
      name: "records what was written before the engine failed",
      given: { engine: { refuses: { "putEntity roles/r1": "unavailable" as const } } },
      action: roles(3),
      want: [...written(2), record],
      continues: [record],
      fails: "unavailable",
    },
    {
      name: "records nothing where the first failed",
      given: { engine: { refuses: { "putEntity roles/r0": "unavailable" as const } } },
      action: roles(3),
      want: written(1),
      fails: "unavailable",
    },
  ],
  hashPassword: [
    {
      name: "writes nothing before the hash is there",
      action: { kind: "hashPassword", username: "admin", password: "p", from: "1/1" },
      want: [],
    },
    {
      name: "hashes a version of a password once",
      given: { objects: [recordOf({ hashes: { admin: { from: "1/1", hash: "h" } } })] },
      action: { kind: "hashPassword", username: "admin", password: "p", from: "1/1" },
      want: [],
    },
  ],
  fitAuditIndex: [
    {
      name: "fits indices, then records it",
      action: { kind: "fitAuditIndex" },
      want: ["engine fitReplicas", record],
    },
    {
      name: "records it where a template of another client is in the way",
      given: { engine: { refuses: { fitReplicas: "invalid" } } },
      action: { kind: "fitAuditIndex" },
      want: ["engine fitReplicas", record],
      continues: [record],
    },
    {
      name: "does not record it while the engine fails",
      given: { engine: { refuses: { fitReplicas: "timeout" } } },
      action: { kind: "fitAuditIndex" },
      want: ["engine fitReplicas"],
      fails: "timeout",
    },
  ],
  deleteEntity: [
    {
      name: "deletes an entity that is as it was written, then forgets it",
      given: {
        engine: { entities: { "roles/r0": body } },
        objects: [recordOf({ entities: { "roles/r0": digestOf(body), "roles/r1": "x" } })],
      },
      action: drop,
      want: ["engine deleteEntity roles/r0", record],
    },
    {
      name: "leaves an entity that another client has changed",
      given: {
        engine: { entities: { "roles/r0": { ...body, description: "theirs" } } },
        objects: [recordOf({ entities: { "roles/r0": digestOf(body) } })],
      },
      action: drop,
      want: [record],
    },
    {
      name: "leaves an entity of which nothing is recorded",
      given: { engine: { entities: { "roles/r0": body } } },
      action: drop,
      want: [record],
    },
  ],
  putLicense: [
    { name: "applies a license", action: putLicense, want: ["engine putLicense"] },
    {
      name: "writes nothing where the license runs already",
      given: {
        engine: { license: { ...license, status: "active", expiryMs: undefined, maxNodes: undefined } },
      },
      action: putLicense,
      want: [],
    },
  ],
  startLicense: [
    {
      name: "starts a trial",
      action: { kind: "startLicense", type: "trial", digest: "t" },
      want: ["engine startTrial"],
    },
    {
      name: "starts no basic license in place of one that runs no more",
      action: { kind: "startLicense", type: "basic", digest: "b", from: { uid: "gold", isLost: false } },
      want: [],
    },
  ],
  keepRepositories: [
    ...[1, 2, 3, 4].map((count) => {
      const names = ["a", "b", "c", "d"].slice(0, count);
      return {
        name: `registers ${String(count)} repositories`,
        given: repositories(names),
        action: { kind: "keepRepositories" as const, put: names, verify: [], drop: [] },
        want: names.map((name) => `engine putRepository ${name}`),
      };
    }),
    {
      name: "registers the others where the engine refuses the first of three",
      given: { ...repositories(["a", "b", "c"]), engine: { refuses: { "putRepository a": "invalid" } } },
      action: { kind: "keepRepositories", put: ["a", "b", "c"], verify: [], drop: [] },
      want: ["engine putRepository a", "engine putRepository b", "engine putRepository c"],
      continues: ["engine putRepository b", "engine putRepository c"],
      fails: "RepositoryRefused",
    },
    {
      name: "stops where the engine fails",
      given: { ...repositories(["a", "b", "c"]), engine: { refuses: { "putRepository b": "unavailable" } } },
      action: { kind: "keepRepositories", put: ["a", "b", "c"], verify: [], drop: [] },
      want: ["engine putRepository a", "engine putRepository b"],
      fails: "unavailable",
    },
    {
      name: "deregisters before it registers",
      given: {
        ...repositories(["a", "b"]),
        spec: { general: { snapshotRepositories: [repository("a")] } },
        engine: { repositories: { b: repository("b") } },
      },
      action: { kind: "keepRepositories", put: ["a"], verify: [], drop: ["b"] },
      want: ["engine deleteRepository b", "engine putRepository a"],
      isDecidedAgain: true,
    },
    {
      name: "deregisters nothing that is declared again",
      given: { ...repositories(["a"]), engine: { repositories: { a: repository("a") } } },
      action: { kind: "keepRepositories", put: [], verify: [], drop: ["a"] },
      want: [],
      fails: "conflict",
    },
    {
      name: "writes nothing once the spec is another one",
      given: repositories(["a"]),
      action: ({ api }) => {
        edited(api);
        return { kind: "keepRepositories", put: ["a"], verify: [], drop: [] };
      },
      want: [],
      fails: "conflict",
    },
  ],
  keepSettings: [
    {
      name: "sets and resets in one call",
      given: settings,
      action: { kind: "keepSettings", put: ["a.b", "c.d"], drop: ["e.f"] },
      want: ["engine putSettings a.b,c.d,e.f"],
    },
    {
      name: "sets each alone where the engine refuses them together",
      given: {
        ...settings,
        engine: {
          ...settings.engine,
          refuses: { "putSettings a.b,c.d,e.f": "invalid", "putSettings c.d": "invalid" },
        },
      },
      action: { kind: "keepSettings", put: ["a.b", "c.d"], drop: ["e.f"] },
      want: [
        "engine putSettings a.b,c.d,e.f",
        "engine putSettings a.b",
        "engine putSettings c.d",
        "engine putSettings e.f",
      ],
      continues: ["engine putSettings a.b", "engine putSettings c.d", "engine putSettings e.f"],
      isDecidedAgain: true,
      fails: "SettingRefused",
    },
    {
      name: "resets nothing that another client has changed since",
      given: { ...settings, engine: { persistent: { "e.f": "4" } } },
      action: { kind: "keepSettings", put: ["a.b", "c.d"], drop: ["e.f"] },
      want: [],
      fails: "conflict",
    },
    {
      name: "writes nothing once the spec is another one",
      given: settings,
      action: ({ api }) => {
        edited(api);
        return { kind: "keepSettings", put: ["a.b", "c.d"], drop: ["e.f"] };
      },
      want: [],
      fails: "conflict",
    },
  ],
};

/** Another client changes the spec. */
function edited(api: PerformBench["api"]): void {
  const live = api.read({ kind: "OpenSearchCluster" }, { namespace: "team", name: "logs" });
  if (live === undefined) throw new Error("the cluster is missing");
  api.put(openSearchCluster.kind, { ...live, metadata: { ...live.metadata, generation: 2 } });
}

describe("a write to the engine", () => {
  test.each(Object.values(rows).flat())("$name", async (row) => {
    expect(await performed(row)).toEqual(wanted(row));
  });

  const sampled: readonly SearchAction[] = [
    { kind: "freezeAllocation", operation: "o" },
    { kind: "excludeNode", node: "n" },
    { kind: "excludeVote", node: "n" },
    { kind: "clearVotes", ours: [] },
    { kind: "releaseAllocation" },
    { kind: "verifyReleased", node: "n" },
    { kind: "keepSettings", put: [], drop: [] },
    { kind: "keepRepositories", put: [], verify: [], drop: [] },
    { kind: "reloadCertificates", node: "logs-nodes-0", layers: ["http"] },
  ];

  test.each(sampled)("requests a sample after $do", async (action) => {
    const bench = await performBench();
    await bench.run(action);
    expect(bench.samples()).toBeGreaterThan(0);
  });

  test("brings the cluster back when a hash is made, and records it then", async () => {
    const bench = await performBench();
    const action: SearchAction = { kind: "hashPassword", username: "admin", password: "p", from: "1/1" };
    await bench.run(action);
    await eventually(() => bench.woken.length > 0);
    expect(bench.woken).toEqual([{ namespace: "team", name: "logs" }]);
    await bench.run(action);
    expect(appliedIn(bench).hashes).toMatchObject({ admin: { from: "1/1" } });
  });

  test("keeps what others recorded when it records", async () => {
    const bench = await performBench({
      objects: [recordOf({ entities: { "roles/x": "1" }, hashes: { a: { from: "1", hash: "h" } } })],
    });
    await bench.run(roles(1));
    expect(appliedIn(bench)).toMatchObject({
      entities: { "roles/x": "1", "roles/r0": digestOf(body) },
      hashes: { a: { from: "1", hash: "h" } },
    });
  });
});
