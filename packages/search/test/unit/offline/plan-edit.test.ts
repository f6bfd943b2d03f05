import { readFileSync } from "node:fs";

import type { Live } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

import type { ClusterObject } from "../../../src/model/read-cluster.ts";
import { planEdit, type PoolEdit } from "../../../src/offline/plan-edit.ts";
import { readDeclaration } from "../../../src/offline/read-declaration.ts";

const pool = (component: string, replicas: number, more: object = {}): object => ({
  component,
  replicas,
  diskSize: "1Gi",
  roles: ["cluster_manager", "data"],
  ...more,
});

function declared(pools: readonly object[], { general = {}, spec = {} } = {}): Live<ClusterObject> {
  const read = readDeclaration({
    apiVersion: "opensearch.org/v1",
    kind: "OpenSearchCluster",
    metadata: { name: "logs", namespace: "team" },
    spec: { general: { serviceName: "logs", version: "2.19.4", ...general }, nodePools: pools, ...spec },
  });
  if (read.kind !== "read") throw new Error(JSON.stringify(read));
  return read.object;
}

const same: Omit<PoolEdit, "pool"> = {
  change: "unchanged",
  from: 3,
  to: 3,
  added: [],
  outdated: [],
  isStorageChanged: false,
};
const all = ["logs-nodes-0", "logs-nodes-1", "logs-nodes-2"];
const before = declared([pool("nodes", 3)]);

interface Case {
  readonly name: string;
  readonly next: Live<ClusterObject>;
  readonly want: readonly (Partial<PoolEdit> & { readonly pool: string })[];
}

const cases: readonly Case[] = [
  { name: "nothing", next: declared([pool("nodes", 3)]), want: [{ pool: "nodes" }] },
  {
    name: "more nodes",
    next: declared([pool("nodes", 5)]),
    want: [{ pool: "nodes", change: "grows", to: 5, added: ["logs-nodes-3", "logs-nodes-4"] }],
  },
  {
    name: "a new pool",
    next: declared([pool("nodes", 3), pool("data", 1)]),
    want: [{ pool: "nodes" }, { pool: "data", change: "created", from: 0, to: 1, added: ["logs-data-0"] }],
  },
  {
    name: "fewer nodes",
    next: declared([pool("nodes", 2)]),
    want: [{ pool: "nodes", change: "shrinks", to: 2 }],
  },
  {
    name: "a pool dropped",
    next: declared([pool("other", 3)]),
    want: [
      {
        pool: "other",
        change: "created",
        from: 0,
        added: ["logs-other-0", "logs-other-1", "logs-other-2"],
      },
      { pool: "nodes", change: "removed", to: 0 },
    ],
  },
  {
    name: "another heap",
    next: declared([pool("nodes", 3, { jvm: "-Xmx1g" })]),
    want: [{ pool: "nodes", outdated: all }],
  },
  {
    name: "another version, which is held, and one node more, which starts with the old one",
    next: declared([pool("nodes", 4)], { general: { version: "2.19.5" } }),
    want: [{ pool: "nodes", change: "grows", to: 4, added: ["logs-nodes-3"] }],
  },
  {
    name: "larger volumes",
    next: declared([pool("nodes", 3, { diskSize: "2Gi" })]),
    want: [{ pool: "nodes", isStorageChanged: true }],
  },
  {
    name: "what nodes do not start with: users, budgets, the network",
    next: declared([pool("nodes", 3, { pdb: { enable: true, maxUnavailable: 1 } })], {
      general: { networkPolicy: { enable: false } },
      spec: { security: { config: { securityConfigSecret: { name: "users" } } } },
    }),
    want: [{ pool: "nodes" }],
  },
];

describe("planEdit", () => {
  test.each(cases)("$name", ({ next, want }) => {
    const { pools, issues } = planEdit(next, before);
    expect(issues).toEqual([]);
    expect(pools).toEqual(want.map((each) => ({ ...same, ...each })));
  });

  test("says in which order nodes are removed and restarted, and which version is held", () => {
    const roles = { managers: ["cluster_manager"], data: ["data"], ingest: ["ingest"] };
    const three = (data: number, general: object): Live<ClusterObject> =>
      declared(
        [
          pool("managers", 2, { roles: roles.managers }),
          pool("data", data, { roles: roles.data }),
          pool("ingest", 1, { roles: roles.ingest }),
        ],
        { general },
      );
    const status = { version: "2.19.4", nodes: [{ name: "logs-managers-1", elected: true }] };
    const plan = planEdit(three(2, { version: "3.0.0", pluginsList: ["repository-s3"] }), {
      ...three(4, {}),
      status,
    });
    expect(plan).toMatchObject({
      removals: ["logs-data-3", "logs-data-2"],
      restarts: ["logs-ingest-0", "logs-data-1", "logs-data-0", "logs-managers-0", "logs-managers-1"],
      heldVersion: "3.0.0",
    });
  });

  test("TLS of a cluster that has formed is held, and no one restarts for it", () => {
    const open = declared([pool("nodes", 3)]);
    const next = { ...open, spec: { ...open.spec, security: { tls: { http: { enabled: false } } } } };
    const formed = { ...before, status: { clusterUuid: "U" } };
    expect(planEdit(next as typeof open, formed)).toMatchObject({
      heldTls: "TLS between nodes on, for clients off",
      restarts: [],
    });
    expect(planEdit(next as typeof open, before).heldTls).toBeUndefined();
  });

  test("counts the nodes that there really are", () => {
    const nodePools = [{ component: "nodes", target: 5 }];
    const shrunk = { ...before, status: { nodePools } };
    expect(planEdit(declared([pool("nodes", 3)]), shrunk).pools).toEqual([
      { ...same, pool: "nodes", change: "shrinks", from: 5 },
    ]);
  });

  test("keeps in mind who needed a restart before the edit", () => {
    const nodes = [{ name: "logs-nodes-1", outdatedBecause: ["the declared configuration is newer"] }];
    const { pools } = planEdit(declared([pool("nodes", 3)]), { ...before, status: { nodes } });
    expect(pools[0]?.outdated).toEqual(["logs-nodes-1"]);
  });

  test("says everything that is wrong with the spec", () => {
    const wrong = declared([pool("nodes", 1, { roles: ["data"], jvm: "-XX:OnError=/bin/sh" })], {
      general: { additionalConfig: { "cluster.name": "mine" } },
    });
    expect(planEdit(wrong).issues.map(({ path, reason }) => `${reason} ${path}`)).toEqual([
      "InvalidSpec spec.nodePools",
      "ReservedSetting spec.general.additionalConfig.cluster.name",
      "InvalidSpec spec.nodePools[0].jvm",
    ]);
  });
});

describe("readDeclaration", () => {
  test("nulls are dropped and defaults filled in, as the server does", () => {
    const { spec } = declared([pool("nodes", 3, { nodeSelector: null })], {
      spec: { security: { config: null } },
    });
    expect(spec.general.httpPort).toBe(9200);
    expect(spec.nodePools[0]).not.toHaveProperty("nodeSelector");
    expect(spec.security).toEqual({});
  });

  test.each([
    { name: "a kind of others", document: { apiVersion: "v1", kind: "Pod" }, want: "other" },
    { name: "no object", document: [1], want: "other" },
    {
      name: "a field that there is not",
      document: {
        apiVersion: "opensearch.org/v1",
        kind: "OpenSearchCluster",
        metadata: { name: "a" },
        spec: { general: { serviceName: "a", versoin: "2.19.4" }, nodePools: [] },
      },
      want: "malformed",
    },
  ])("$name is $want", ({ document, want }) => {
    expect(readDeclaration(document).kind).toBe(want);
  });

  test.each([
    "opensearch.yaml",
    "opensearch-single.yaml",
    "opensearch-autoscaling.yaml",
    "opensearch-backup.yaml",
    "elasticsearch-trial.yaml",
  ])("sample %s is read and has no fault", (file) => {
    const url = new URL(`../../../../../config/samples/${file}`, import.meta.url);
    const read = parseAllDocuments(readFileSync(url, "utf8")).map((document) =>
      readDeclaration(document.toJS()),
    );
    const objects = read.flatMap((each) => (each.kind === "read" ? [each.object] : []));
    expect(objects.map((object) => planEdit(object).issues)).toEqual([[]]);
  });
});

describe("[first-use/13] what is allowed and may surprise", () => {
  const twoManagers =
    "Two nodes can be elected as manager: if one of them fails, the other cannot be elected alone, and the cluster stops. Declare three.";

  test.for<[string, Live<ClusterObject>, Live<ClusterObject> | undefined, readonly string[]]>([
    ["three managers", before, undefined, []],
    ["one manager", declared([pool("nodes", 1)]), undefined, []],
    ["two managers", declared([pool("nodes", 2)]), undefined, [twoManagers]],
    [
      "two managers in two pools, beside nodes for data",
      declared([pool("a", 1), pool("b", 1), pool("data", 4, { roles: ["data"] })]),
      undefined,
      [twoManagers],
    ],
    [
      "another name of the Service",
      declared([pool("nodes", 3)], { general: { serviceName: "search" } }),
      before,
      ["The address of the cluster changes from logs.team to search.team: clients have to use the new one."],
    ],
  ])("%s", ([, next, earlier, want]) => {
    expect(planEdit(next, earlier).warnings).toEqual(want);
  });
});
