import { openSearchCluster } from "@quartermaster/api";
import {
  controllerReference,
  type JsonObject,
  type Kind,
  type Live,
  type ObjectRef,
} from "@quartermaster/runtime";
import {
  configMaps,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  type Pod,
  pods,
  services,
  type StatefulSet,
  statefulSets,
} from "@quartermaster/runtime/kinds";
import { VirtualSystem } from "@quartermaster/runtime/testing";
import { RecordedReconcile } from "@quartermaster/testkit";

import { SampleWindows } from "../../src/autoscaling/sample-windows.ts";
import { forOperations } from "../../src/engine-sampling.ts";
import { engineSample } from "../../src/engine/engine-sample.ts";
import { LicenseAttempts } from "../../src/license/license-attempts.ts";
import { poolNames } from "../../src/model/cluster-names.ts";
import { type ClusterObject, readCluster } from "../../src/model/read-cluster.ts";
import {
  isDataPool,
  isManagerPool,
  type NodePool,
  podNames,
  type SearchCluster,
} from "../../src/model/search-cluster.ts";
import { observeWorkload } from "../../src/observe-workload.ts";
import { readDeclaration } from "../../src/offline/read-declaration.ts";
import { labelsOf, ownerAnnotations, ownerLabels, writerLabels } from "../../src/owner-labels.ts";
import { performContext } from "../../src/perform-context.ts";
import { perform } from "../../src/perform.ts";
import type { SearchAction } from "../../src/search-action.ts";
import { PasswordHasher } from "../../src/security-content/password-hasher.ts";
import type { ClusterStatus, Seen } from "../../src/seen.ts";
import { poolLabels } from "../../src/workload/cluster-labels.ts";
import { poolInputsHash } from "../../src/workload/pool-inputs-hash.ts";
import { poolStatefulSet } from "../../src/workload/pool-stateful-set.ts";
import { aMaterial, aSeen } from "./a-seen.ts";
import { type EngineState, RecordedEngine } from "./recorded-engine.ts";

/** When benches are. */
export const benchMs: number = Date.UTC(2026, 10, 18);

/** A cluster of some pools that has formed, and what of it is there. */
export interface BenchOptions {
  readonly name?: string;
  /** Nodes that are declared, by pool (default: three in `nodes`). Pools hold managers and data. */
  readonly pools?: Readonly<Record<string, number>>;
  /** Places in the StatefulSets, by pool (default: as declared); of a pool that is not declared too. */
  readonly slots?: Readonly<Record<string, number>>;
  /** Nodes that have a pod and are members (default: one for each place). */
  readonly nodes?: readonly string[];
  /** Nodes that were started with older inputs. */
  readonly outdated?: readonly string[];
  /** Nodes whose claim is there although they have no pod. */
  readonly claims?: readonly string[];
  readonly status?: Partial<ClusterStatus>;
  readonly spec?: { readonly general?: JsonObject; readonly pool?: JsonObject; readonly more?: JsonObject };
  readonly engine?: Partial<EngineState>;
  /** What the reconcile saw besides the workload. */
  readonly seen?: Partial<Seen>;
  readonly metadata?: { readonly deletionTimestamp?: string; readonly generation?: number };
  /** Time since the observation (default: none). */
  readonly spentMs?: number;
  /** Further objects. */
  readonly objects?: readonly { readonly kind: Kind; readonly object: object }[];
}

/** A reconcile between its observation and its writes, over objects in memory. */
export interface PerformBench {
  readonly api: RecordedReconcile;
  readonly engine: RecordedEngine;
  readonly seen: Seen;
  readonly attempts: LicenseAttempts;
  /** How often a sample of the engine was requested. */
  readonly samples: () => number;
  /** Clusters that were brought back. */
  readonly woken: readonly ObjectRef[];
  readonly run: (action: SearchAction) => Promise<void>;
}

/** Sets it up. */
export async function performBench(options: BenchOptions = {}): Promise<PerformBench> {
  const api = new RecordedReconcile();
  const object = api.put(openSearchCluster.kind, declaredCluster(options)) as Live<ClusterObject>;
  const { cluster } = readCluster(object);
  const children = putWorkload(api, { object, cluster, options });
  for (const each of options.objects ?? []) api.put(each.kind, each.object as Live);
  const engine = new RecordedEngine(api, { ...membersOf(cluster, children.pods), ...options.engine });
  const { client } = engine;
  const nowMs = (): number => benchMs;
  const facts = await engineSample(client, { facts: new Set(forOperations), nodes: [], nowMs });
  const workload = observeWorkload(object, children);
  const seen = aSeen({
    ...workload,
    material: aMaterial(),
    bootstrapList: "empty",
    engine: facts,
    engineClient: client,
    readAtMs: benchMs - (options.spentMs ?? 0),
    ...options.seen,
  });
  const system = new VirtualSystem({ startMs: benchMs });
  const attempts = new LicenseAttempts(system);
  // Stores hold what has our labels.
  const ctx = api.context(object, ({ metadata }) => metadata.labels?.[ownerLabels.cluster] !== undefined);
  const woken: ObjectRef[] = [];
  let samples = 0;
  const deps = {
    nowMs,
    observer: {},
    hasher: new PasswordHasher({ system, rounds: 4 }),
    attempts,
    windows: new SampleWindows(system),
    findCluster: async () => await ctx.client.find(openSearchCluster.kind, object.metadata),
    resample: () => {
      samples += 1;
    },
    wake: (ref: ObjectRef) => {
      woken.push(ref);
    },
  };
  return {
    api,
    engine,
    seen,
    attempts,
    samples: () => samples,
    woken,
    run: async (action) => {
      await perform(action, performContext(ctx, seen, deps));
    },
  };
}

function declaredCluster({
  name = "logs",
  pools = { nodes: 3 },
  spec = {},
  status,
  metadata,
}: BenchOptions): Live<ClusterObject> {
  const read = readDeclaration({
    apiVersion: "opensearch.org/v1",
    kind: "OpenSearchCluster",
    metadata: { name, namespace: "team" },
    spec: {
      general: { serviceName: name, version: "2.19.4", ...spec.general },
      nodePools: Object.entries(pools).map(([component, replicas]) => ({
        component,
        replicas,
        diskSize: "1Gi",
        roles: ["cluster_manager", "data"],
        ...spec.pool,
      })),
      ...spec.more,
    },
  });
  if (read.kind !== "read") throw new Error(`not a declaration: ${JSON.stringify(read)}`);
  const { object } = read;
  return {
    ...object,
    metadata: { ...object.metadata, uid: `uid-${name}`, generation: 1, ...metadata },
    status: { clusterUuid: "U", version: "2.19.4", ...status },
  };
}

interface Declared {
  readonly object: Live<ClusterObject>;
  readonly cluster: SearchCluster;
  readonly options: BenchOptions;
}

interface Workload {
  readonly sets: readonly Live<StatefulSet>[];
  readonly pods: readonly Live<Pod>[];
  readonly claims: readonly Live<PersistentVolumeClaim>[];
}

function putWorkload(api: RecordedReconcile, { object, cluster, options }: Declared): Workload {
  const { slots = {}, claims = [] } = options;
  const [model] = cluster.pools;
  const dropped = Object.keys(slots).filter((name) => cluster.pools.every((pool) => pool.name !== name));
  const all = [
    ...cluster.pools,
    ...(model === undefined ? [] : dropped.map((name) => ({ ...model, name, replicas: 0 }))),
  ];
  const made = all.map((pool) => {
    const replicas = slots[pool.name] ?? pool.replicas;
    const set = api.put(statefulSets, setOf(object, cluster, { pool, replicas })) as Live<StatefulSet>;
    const { service, config } = poolNames(cluster, pool);
    const owned = {
      namespace: "team",
      labels: labelsOf(cluster),
      ownerReferences: [controllerReference(object)],
    };
    api.put(services, { apiVersion: "v1", kind: "Service", metadata: { ...owned, name: service } });
    api.put(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { ...owned, name: config } });
    const nodes = podNames(cluster, { name: pool.name, replicas }).filter(
      (node) => options.nodes === undefined || options.nodes.includes(node),
    );
    const claimed = claims.filter((node) => node.startsWith(`${cluster.name}-${pool.name}-`));
    return {
      set,
      pods: nodes.map(
        (node) =>
          api.put(
            pods,
            podOf(cluster, pool, { node, set, isOutdated: options.outdated?.includes(node) === true }),
          ) as Live<Pod>,
      ),
      claims: [...nodes, ...claimed].map(
        (node) =>
          api.put(persistentVolumeClaims, claimOf(cluster, pool, node)) as Live<PersistentVolumeClaim>,
      ),
    };
  });
  return {
    sets: made.map(({ set }) => set),
    pods: made.flatMap((each) => each.pods),
    claims: made.flatMap((each) => each.claims),
  };
}

function labelsOfPool(cluster: SearchCluster, { name }: NodePool): Readonly<Record<string, string>> {
  return { ...poolLabels(cluster, { name }), ...labelsOf(cluster), [ownerLabels.pool]: name };
}

function setOf(
  object: Live<ClusterObject>,
  cluster: SearchCluster,
  { pool, replicas }: { readonly pool: NodePool; readonly replicas: number },
): StatefulSet {
  const inputsHash = poolInputsHash(cluster, pool, aMaterial().podInputs);
  const set = poolStatefulSet(cluster, pool, { inputsHash, replicas });
  const { metadata } = set;
  const name = metadata.name;
  return {
    ...set,
    metadata: {
      ...metadata,
      name,
      uid: `uid-set-${name}`,
      labels: labelsOfPool(cluster, pool),
      ownerReferences: [controllerReference(object)],
    },
  };
}

function podOf(
  cluster: SearchCluster,
  pool: NodePool,
  {
    node,
    set,
    isOutdated,
  }: { readonly node: string; readonly set: Live<StatefulSet>; readonly isOutdated: boolean },
): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: node,
      namespace: "team",
      uid: `uid-pod-${node}`,
      labels: labelsOfPool(cluster, pool),
      annotations: {
        [ownerAnnotations.inputsHash]: isOutdated
          ? "older"
          : poolInputsHash(cluster, pool, aMaterial().podInputs),
      },
      ownerReferences: [controllerReference(set)],
    },
    status: { phase: "Running", podIP: "10.0.0.1", conditions: [{ type: "Ready", status: "True" }] },
  } as unknown as Pod;
}

function claimOf(cluster: SearchCluster, pool: NodePool, node: string): PersistentVolumeClaim {
  const holds = [...(isManagerPool(pool) ? ["manager"] : []), ...(isDataPool(pool) ? ["data"] : [])];
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name: `data-${node}`,
      namespace: "team",
      uid: `uid-claim-${node}`,
      labels: { ...labelsOfPool(cluster, pool), ...writerLabels(cluster) },
      annotations: {
        [ownerAnnotations.engineUuid]: "U",
        [ownerAnnotations.holds]: holds.join(","),
        [ownerAnnotations.managers]: "3",
      },
    },
    spec: { resources: { requests: { storage: "1Gi" } } },
    status: { capacity: { storage: "1Gi" } },
  };
}

function membersOf(
  cluster: SearchCluster,
  live: readonly Live<Pod>[],
): Pick<EngineState, "members" | "voters"> {
  const names = live.map(({ metadata }) => metadata.name);
  const [model] = cluster.pools;
  return {
    members: Object.fromEntries(names.map((name) => [name, [...(model?.roles ?? [])]])),
    voters: names,
  };
}
