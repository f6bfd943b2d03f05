import type { EngineFacts } from "../../src/engine/engine-facts.ts";
import type { SearchCluster } from "../../src/model/search-cluster.ts";
import type { ClusterStatus, PodFacts, Seen } from "../../src/seen.ts";
import { poolInputsHash } from "../../src/workload/pool-inputs-hash.ts";
import { aPool, aSearchCluster } from "../a-search-cluster.ts";
import { aMaterial, aPod, aSeen, aVolume, engineFacts, known } from "./a-seen.ts";
import { copiesWanted, type Model, type ModelPod, nodeName, type Workload } from "./operation-model.ts";

const begin = Date.parse("2026-11-17T10:00:00Z");
const material = aMaterial();
const clusters = new Map<string, SearchCluster>();
const hashes = new Map<string, string>();

function clusterOf(config: number, nodes: number, isEphemeral: boolean): SearchCluster {
  const key = `${String(config)}/${String(nodes)}/${String(isEphemeral)}`;
  const storage = isEphemeral ? { storage: { kind: "emptyDir" as const, source: {} } } : {};
  const made =
    clusters.get(key) ??
    aSearchCluster({
      pools: [aPool({ replicas: nodes, whenScaled: "Delete", config: { edit: String(config) }, ...storage })],
    });
  clusters.set(key, made);
  return made;
}

function hashOf(config: number, isEphemeral: boolean): string {
  const key = `${String(config)}/${String(isEphemeral)}`;
  const before = hashes.get(key);
  if (before !== undefined) return before;
  const cluster = clusterOf(config, 1, isEphemeral);
  const [pool = aPool()] = cluster.pools;
  const made = poolInputsHash(cluster, pool, material.podInputs);
  hashes.set(key, made);
  return made;
}

export function seenBy(model: Model, { slots, pods }: Workload, engine: EngineFacts): Seen {
  const status: Partial<ClusterStatus> = {
    clusterUuid: "U",
    version: "2.19.4",
    bootstrap: { mode: "Found", initialManagers: [nodeName(0)] },
    ...(model.operation === undefined ? {} : { operation: model.operation }),
  };
  const sets = new Map([
    ["nodes", { metadata: { name: "logs-nodes", uid: "set" }, spec: { replicas: slots } }],
  ]);
  return aSeen({
    ...declared(model),
    material,
    status,
    bootstrapList: "empty",
    statefulSets: sets as unknown as Seen["statefulSets"],
    pods: Object.entries(pods).map(([node, pod]) => podOf(node, pod, model.isEphemeral)),
    volumes: Array.from({ length: model.isEphemeral ? 0 : 3 }, (_, ordinal) => nodeName(ordinal))
      .filter((node) => !model.deletedClaims.includes(node))
      .map((node) => aVolume(node, { engineUuid: "U" })),
    engine,
  });
}

/** A spec that cannot be understood says nothing of pools; a client that reads it then is wrong. */
function declared({ spec, isEphemeral }: Model): Pick<Seen, "cluster" | "issues"> {
  const { config, nodes, isHeld } = spec;
  if (!isHeld) return { cluster: clusterOf(config, nodes, isEphemeral), issues: [] };
  return {
    cluster: aSearchCluster({ pools: [] }),
    issues: [{ path: "spec", reason: "InvalidSpec", message: "is nonsense" }],
  };
}

function podOf(node: string, { uid, config, state }: ModelPod, isEphemeral: boolean): PodFacts {
  return aPod(node, {
    uid: String(uid),
    inputsHash: hashOf(config, isEphemeral),
    isReady: state === "up",
    isTerminating: state === "terminating",
  });
}

export function factsOf({ voters, exclusions, holders, settings, members }: Model["sample"]): EngineFacts {
  const rows = holders.flatMap((nodes, shard) => {
    const started = nodes.filter((node) => members.includes(node));
    const missing = Math.max(0, copiesWanted - started.length);
    return [
      ...started.map((node, at) => ({
        index: "orders",
        shard,
        isPrimary: at === 0,
        state: "STARTED" as const,
        node,
      })),
      ...Array.from({ length: missing }, () => ({
        index: "orders",
        shard,
        isPrimary: false,
        state: "UNASSIGNED" as const,
        node: undefined,
      })),
    ];
  });
  const unassigned = rows.filter(({ state }) => state === "UNASSIGNED").length;
  const isRed = holders.some((nodes) => !nodes.some((node) => members.includes(node)));
  const colour = unassigned === 0 ? "green" : "yellow";
  return engineFacts({
    health: known({
      status: isRed ? "red" : colour,
      nodes: members.length,
      dataNodes: members.length,
      activeShards: rows.length - unassigned,
      relocatingShards: 0,
      initializingShards: 0,
      unassignedShards: unassigned,
      pendingTasks: 0,
    }),
    nodes: known(
      members.map((node) => ({
        id: node,
        name: node,
        version: "2.19.4",
        roles: ["cluster_manager", "data"],
        isElected: node === voters.find((voter) => members.includes(voter)),
      })),
    ),
    coordination: known({ clusterUuid: "U", voters, exclusions, elected: voters[0] }),
    shards: known(rows),
    settings: known(settings),
    nodeLoad: known(
      members.map((node) => ({
        node,
        shards: rows.filter((row) => row.node === node).length,
        documents: rows.filter((row) => row.node === node).length,
        storeBytes: 200,
        diskTotalBytes: 1000,
        diskFreeBytes: 900,
        heapPercent: 1,
        cpuPercent: 1,
        searchQueue: 0,
        writeRejections: 0,
      })),
    ),
    indices: known([{ name: "orders", replicas: copiesWanted - 1, isAutoExpanded: false }]),
  });
}

export function nowOf({ isLater }: Model): Date {
  return new Date(begin + (isLater ? 6_000 : 0));
}
