import type { EngineFacts, EngineShard } from "../../src/engine/engine-facts.ts";
import type { NodePool, SearchCluster } from "../../src/model/search-cluster.ts";
import { podNames } from "../../src/model/search-cluster.ts";
import type { ClusterStatus, Seen } from "../../src/seen.ts";
import { poolInputsHash } from "../../src/workload/pool-inputs-hash.ts";
import { aPool, aSearchCluster } from "../a-search-cluster.ts";
import { aMaterial, aPod, aSeen, aVolume, engineFacts, known } from "./a-seen.ts";

/** Managers and data nodes of their own. */
export function managersAndData(managers: number, data: number): SearchCluster {
  return aSearchCluster({
    pools: [
      aPool({ name: "managers", replicas: managers, roles: ["cluster_manager"] }),
      aPool({ name: "data", replicas: data, roles: ["data"] }),
    ],
  });
}

/** One copy on each of the nodes, the first of them the primary; `?` is a copy that is not assigned. */
export function shardOn(index: string, nodes: readonly string[], shard = 0): readonly EngineShard[] {
  return nodes.map((node, at) => ({
    index,
    shard,
    isPrimary: at === 0,
    ...(node === "?" ? { state: "UNASSIGNED", node: undefined } : { state: "STARTED", node }),
  }));
}

export interface RollChanges {
  readonly cluster?: SearchCluster;
  /** Places that StatefulSets have, by pool (default: as many as declared). */
  readonly slots?: Readonly<Record<string, number>>;
  /** Nodes that run with older inputs. */
  readonly outdated?: readonly string[];
  /** Nodes whose pod is not ready and that are no members. */
  readonly down?: readonly string[];
  readonly shards?: readonly EngineShard[];
  readonly voters?: readonly string[];
  readonly engine?: Partial<EngineFacts>;
  readonly status?: Partial<ClusterStatus>;
  readonly seen?: Partial<Seen>;
}

/** A formed cluster in which all is well, with changes. */
export function aRoll(changes: RollChanges = {}): Seen {
  const { cluster = managersAndData(3, 2), outdated = [], down = [], shards = [], slots = {} } = changes;
  const material = aMaterial();
  const nodes = cluster.pools.flatMap((pool) => nodesOf(cluster, pool, slots[pool.name]));
  const up = nodes.filter(({ name }) => !down.includes(name));
  const managers = up.filter(({ pool }) => pool.roles.includes("cluster_manager")).map(({ name }) => name);
  const unassigned = shards.filter(({ state }) => state === "UNASSIGNED").length;
  const voters = changes.voters ?? managers;
  return aSeen({
    cluster,
    material,
    status: { clusterUuid: "U", version: cluster.version, ...changes.status },
    bootstrapList: "empty",
    statefulSets: new Map(
      cluster.pools.map((pool) => [
        pool.name,
        {
          metadata: { name: `${cluster.name}-${pool.name}`, uid: `set-${pool.name}` },
          spec: { replicas: slots[pool.name] ?? pool.replicas, volumeClaimTemplates: [{}] },
        },
      ]),
    ) as unknown as Seen["statefulSets"],
    pods: nodes.map(({ name, pool }) =>
      aPod(name, {
        pool: pool.name,
        inputsHash: outdated.includes(name) ? "older" : poolInputsHash(cluster, pool, material.podInputs),
        isReady: !down.includes(name),
      }),
    ),
    volumes: nodes.map(({ name }) => aVolume(name, { engineUuid: "U" })),
    engine: engineFacts({
      health: known({
        status: unassigned > 0 ? "yellow" : "green",
        nodes: up.length,
        dataNodes: up.length,
        activeShards: shards.length - unassigned,
        relocatingShards: 0,
        initializingShards: 0,
        unassignedShards: unassigned,
        pendingTasks: 0,
      }),
      nodes: known(
        up.map(({ name, pool }) => ({
          id: `id-${name}`,
          name,
          version: cluster.version,
          roles: pool.roles,
          isElected: name === voters[0],
        })),
      ),
      coordination: known({ clusterUuid: "U", voters, exclusions: [], elected: voters[0] }),
      shards: known(shards),
      settings: known({ persistent: {}, transient: {} }),
      nodeLoad: known(
        up.map(({ name }) => ({
          node: name,
          shards: shards.filter(({ node }) => node === name).length,
          documents: shards.filter(({ node }) => node === name).length,
          storeBytes: 200,
          diskTotalBytes: 1000,
          diskFreeBytes: 800,
          heapPercent: 10,
          cpuPercent: 1,
          searchQueue: 0,
          writeRejections: 0,
        })),
      ),
      indices: known(
        [...new Set(shards.map(({ index }) => index))].map((name) => ({
          name,
          replicas: shards.filter(({ index, shard }) => index === name && shard === 0).length - 1,
          isAutoExpanded: name.startsWith("."),
        })),
      ),
      ...changes.engine,
    }),
    ...changes.seen,
  });
}

function nodesOf(
  cluster: SearchCluster,
  pool: NodePool,
  slots = pool.replicas,
): readonly { readonly name: string; readonly pool: NodePool }[] {
  const replicas = Math.max(slots, pool.replicas);
  return podNames(cluster, { ...pool, replicas }).map((name) => ({ name, pool }));
}
