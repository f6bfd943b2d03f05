import { elasticsearchCluster, openSearchCluster } from "@quartermaster/api";
import { clusterLicense, DESIRED_LICENSE_LABEL, SIGNATURE_SECRET_TYPE } from "@quartermaster/api/licensing";
import type { Kind, KubeObject } from "@quartermaster/runtime";
import {
  configMaps,
  networkPolicies,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
} from "@quartermaster/runtime/kinds";
import { eventually, type Workload, type WorkloadRun } from "@quartermaster/testkit";

import { EngineError } from "../../src/engine/engine-error.ts";
import type { ClusterObject } from "../../src/model/read-cluster.ts";
import type { FakeIndex } from "../fakes/index.ts";
import { aCluster, anElasticsearch, aPool, isReady, type SearchBench, setUpSearch } from "./search-bench.ts";
import { aSignature } from "./signatures.ts";

const clusterLabel = "search.quartermaster.dev/cluster";
const uuidAnnotation = "search.quartermaster.dev/engine-uuid";
const orders = { name: "orders", shards: 2, replicas: 1, documents: 10 } as const;
const clauses = { "indices.query.bool.max_clause_count": "2000" };

type Steps = WorkloadRun["steps"];

/** Created, rolled, one node fewer, deleted with its data kept: every write of a cluster's life. */
export const searchWorkload = {
  name: "search",
  sample: [
    "search I5 at create secrets logs-ca #1",
    "search C2 at delete pods logs-nodes-1 #1",
    "search I4-labels at delete pods logs-nodes-0 #1",
    "search C3 at patch statefulsets logs-nodes #3",
    "search I4-owners at delete statefulsets logs-nodes #1",
    "search E6 at patch persistentvolumeclaims data-logs-nodes-0 #1",
  ],
  exceptions: [
    {
      plans: /I4-labels at delete statefulsets/,
      why: "without labels it is the cluster's still, by its owner reference: the server deletes it with its owner",
    },
    {
      plans: /I4-owners at delete pods/,
      why: "the StatefulSet takes the pod back at once: it is the cluster's again when it is deleted later",
    },
    {
      plans: /I4-deleted at patch persistentvolumeclaims/,
      why: "the operator makes no claims, and the StatefulSet none for a node that was removed",
    },
  ],
  setUp: async () => await searchRun((bench) => [...grownUp(bench), deletion(bench)]),
} satisfies Workload;

/** Managers leave the voters, and the engine's own objects come and change. It is not deleted: its end is compared in full, and specs change. */
export const searchVotesWorkload = {
  name: "search-votes",
  sample: [
    "search-votes C2 at patch statefulsets logs-managers #2",
    "search-votes I3 at patch statefulsets logs-managers #2",
  ],
  setUp: async () => {
    const run = await searchRun(votes);
    const configure = async (value: string | null): Promise<void> => {
      await run.api.send({
        method: "PATCH",
        path: run.primaryPaths[0] ?? "",
        body: { spec: { general: { additionalConfig: { "a.b": value } } } },
        contentType: "application/merge-patch+json",
      });
    };
    return {
      ...run,
      retarget: async () => {
        await configure("2");
      },
      restore: async () => {
        await configure(null);
      },
    };
  },
} satisfies Workload;

/** A run whose engines can be reached. */
export interface SearchRun extends WorkloadRun {
  readonly bench: SearchBench;
}

/** An Elasticsearch with a trial, and then with a license. */
export const searchLicenseWorkload = {
  name: "search-license",
  setUp: async () => await searchRun(licensed),
} satisfies Workload;

async function searchRun(stepsOf: (bench: SearchBench) => Steps): Promise<SearchRun> {
  const bench = await setUpSearch({ isOperating: false, clockRate: 4 });
  const { namespace, cluster, operator, engines } = bench;
  const { group, version, plural } = openSearchCluster.kind;
  return {
    bench,
    api: cluster.api,
    operator,
    aliases: { [namespace]: "ns" },
    primaryPaths: [`/apis/${group}/${version}/namespaces/${namespace}/${plural}/logs`],
    operate: async (access) => {
      engines.reconnect();
      await bench.operate(access);
    },
    // A process that was killed does not reach engines either.
    stop: async () => {
      engines.cut();
      await bench.stop();
    },
    steps: stepsOf(bench),
    endState: async () => {
      const text = JSON.stringify(await endState(bench));
      return JSON.parse(text.replaceAll(namespace, "ns")) as unknown;
    },
    isCleared: async () => await isCleared(bench),
    [Symbol.asyncDispose]: async () => await bench[Symbol.asyncDispose](),
  };
}

function grownUp(bench: SearchBench): Steps {
  const sized = (replicas: number, general: object = {}): object =>
    aCluster("logs", { pools: [aPool("nodes", replicas)], general });
  const apply = (replicas: number, general?: object) => async () => {
    await bench.apply(sized(replicas, general));
  };
  return [
    { name: "create", act: apply(3), isDone: async () => await isAtRest(bench, 3) },
    {
      name: "roll",
      act: async () => {
        await fill(bench, "logs-nodes-0", orders);
        await apply(3, { additionalConfig: clauses })();
      },
      isDone: async () => await isAtRest(bench, 3),
    },
    {
      name: "one node fewer",
      act: apply(2, { additionalConfig: clauses }),
      isDone: async () => await isAtRest(bench, 2),
    },
  ];
}

/** Creates an index once the node answers, which a fault may keep from it for a while. */
async function fill({ engines }: SearchBench, node: string, index: FakeIndex): Promise<void> {
  await eventually(() => {
    try {
      engines.engine("logs").createIndex(node, index);
      return true;
    } catch (error) {
      if (error instanceof EngineError) return undefined;
      throw error;
    }
  });
}

function deletion(bench: SearchBench): Steps[number] {
  const { client, namespace } = bench;
  return {
    name: "delete",
    act: async () => {
      await client.delete(openSearchCluster.kind, { namespace, name: "logs" });
    },
    isDone: async () => await isCleared(bench),
  };
}

function votes(bench: SearchBench): Steps {
  const { client, namespace } = bench;
  const sized = (managers: number, general: object = {}): object =>
    aCluster("logs", {
      pools: [
        aPool("managers", managers, { roles: ["cluster_manager"] }),
        aPool("data", 1, { roles: ["data"] }),
      ],
      general: { additionalConfig: { "path.repo": "/snapshots" }, ...general },
      spec: { security: { config: { securityConfigSecret: { name: "security" } } } },
    });
  return [
    {
      name: "create",
      act: async () => {
        const roles = 'reader:\n  cluster_permissions: ["cluster_monitor"]\n';
        await client.create(secrets, {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "security", namespace },
          stringData: { "roles.yml": roles },
        });
        await bench.apply(sized(3));
      },
      isDone: async () => await isAtRest(bench, 4),
    },
    {
      name: "one manager and a repository",
      act: async () => {
        await fill(bench, "logs-data-0", { ...orders, replicas: 0 });
        await bench.apply(
          sized(1, {
            snapshotRepositories: [{ name: "backup", type: "fs", settings: { location: "/snapshots/a" } }],
            clusterSettings: { "indices.recovery.max_bytes_per_sec": "20mb" },
          }),
        );
      },
      isDone: async () => await isAtRest(bench, 2),
    },
    {
      name: "no repository",
      act: async () => {
        await bench.apply(sized(1));
      },
      isDone: async () => await isAtRest(bench, 2),
    },
  ];
}

function licensed(bench: SearchBench): Steps {
  const { client, namespace } = bench;
  const { kind } = elasticsearchCluster;
  const isLicensed = async (type: string): Promise<boolean> => {
    const { license } = (await bench.get("logs", kind)).status ?? {};
    return license?.state === "Applied" && license.type === type && (await isAtRest(bench, 1, kind));
  };
  const apply = async (license: string): Promise<void> => {
    const object = anElasticsearch("logs", { pools: [aPool("nodes", 1)] });
    await bench.apply({
      ...object,
      metadata: { name: "logs", labels: { [DESIRED_LICENSE_LABEL]: license } },
    });
  };
  return [
    {
      name: "trial",
      act: async () => {
        await apply("trial");
      },
      isDone: async () => await isLicensed("trial"),
    },
    {
      name: "license",
      act: async () => {
        await client.create(secrets, {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "logs-signature", namespace },
          type: SIGNATURE_SECRET_TYPE,
          data: { signature: Buffer.from(aSignature()).toString("base64") },
        });
        await client.create(clusterLicense.kind, {
          apiVersion: "elasticsearch.k8s.elastic.co/v1alpha1",
          kind: "ClusterLicense",
          metadata: { name: "logs", namespace },
          spec: {
            uid: "platinum-1",
            type: "platinum",
            issueDate: 1_411_948_800_000,
            expiryDate: 1_914_278_399_999,
            maxNodes: 10,
            issuedTo: "Example Corp.",
            issuer: "API",
            signatureRef: { name: "logs-signature" },
          },
        });
        await apply("platinum");
      },
      isDone: async () => await isLicensed("platinum"),
    },
  ];
}

/** As declared, with nothing open and nothing left in the engine that belongs to an operation. */
async function isAtRest(
  bench: SearchBench,
  nodes: number,
  kind: Kind<ClusterObject> = openSearchCluster.kind,
): Promise<boolean> {
  const found = await bench.get("logs", kind);
  const { operation, nodePools = [], availableNodes, observedGeneration } = found.status ?? {};
  const isRolled = nodePools.every(({ outdated }) => outdated === 0);
  const isSeen = observedGeneration === found.metadata.generation;
  return isSeen && isReady(found) && operation === undefined && isRolled && availableNodes === nodes;
}

/** Objects without what differs from run to run, and what the engine has. */
async function endState(bench: SearchBench): Promise<unknown> {
  const engine = bench.engines.engine("logs");
  const [uuid] = engine.uuids;
  const isAlive = engine.state() !== undefined;
  const claims = await inNamespace(bench, persistentVolumeClaims);
  return {
    objects: Object.fromEntries(
      await Promise.all(
        compared.map(async (kind) => [kind.plural, (await inNamespace(bench, kind)).map(withoutContent)]),
      ),
    ) as unknown,
    slots: (await inNamespace(bench, statefulSets)).map(({ spec }) => spec.replicas),
    configs: (await inNamespace(bench, configMaps)).map(({ data }) => data),
    passwords: (await inNamespace(bench, secrets)).map(({ data }) => Object.keys(data ?? {})),
    isOneCluster: engine.uuids.length === 1,
    dataOf: claims.map(({ metadata }) => metadata.annotations?.[uuidAnnotation] === uuid),
    // Of a cluster without nodes, none serves.
    lostShards: isAlive ? engine.lostShards() : [],
    exclusions: engine.exclusions(),
    settings: engine.settings(),
    repositories: engine.repositories()?.list() ?? [],
    reader: engine.securityEntity("roles", "reader"),
  };
}

const owned: readonly Kind[] = [
  pods,
  statefulSets,
  services,
  configMaps,
  serviceAccounts,
  podDisruptionBudgets,
  networkPolicies,
];
const compared: readonly Kind[] = [...owned, secrets, persistentVolumeClaims];

function withoutContent({ metadata }: KubeObject): string {
  const ownerLabels = Object.entries(metadata.labels ?? {}).map(([key]) => key);
  return `${metadata.name} ${ownerLabels.toSorted().join()} ${String(metadata.ownerReferences?.length ?? 0)}`;
}

async function inNamespace<O extends KubeObject>({ client, namespace }: SearchBench, kind: Kind<O>) {
  const items = await Array.fromAsync(client.list(kind, { namespace }));
  return items
    .filter(
      ({ metadata: { name, deletionTimestamp } }) => deletionTimestamp === undefined && !isOfServer(name),
    )
    .toSorted((one, other) => one.metadata.name.localeCompare(other.metadata.name));
}

function isOfServer(name: string): boolean {
  return ["kube-root-ca.crt", "default", "operator"].includes(name) || name.startsWith("operator-");
}

/** Whether the cluster no longer exists, and with it everything but claims and Secrets. */
async function isCleared(bench: SearchBench): Promise<boolean> {
  const { client, namespace } = bench;
  if ((await client.find(openSearchCluster.kind, { namespace, name: "logs" })) !== undefined) return false;
  const left = await Promise.all(owned.map(async (kind) => await inNamespace(bench, kind)));
  return left.flat().every(({ metadata }) => metadata.labels?.[clusterLabel] === undefined);
}
