import type { SampledCluster } from "../engine/sampled-engine.ts";
import { markedFor } from "../formation/volume-facts.ts";
import { podNames } from "../model/search-cluster.ts";
import { saysReady, type Seen } from "../seen.ts";
import { outdatedPods } from "./node-facts.ts";

/** What every decision about a node that goes away needs: what is sampled for it, and what is read again before it is carried out. */
export const forOperations = [
  "nodes",
  "coordination",
  "shards",
  "settings",
  "nodeLoad",
  "indices",
  "explanations",
] as const satisfies readonly (SampledCluster["asks"] extends ReadonlySet<infer Fact> ? Fact : never)[];

/**
 * What the sampler has to ask, and how often. A cluster that is as declared is asked for its health alone; whatever is missing,
 * unready, unmarked or not reported yet makes it ask who is a member and who votes; nodes that go away make it ask everything.
 */
export function engineAsks(seen: Known): Pick<SampledCluster, "isOpen" | "asks"> {
  if (seen.status.clusterUuid === undefined) return { isOpen: true, asks: new Set(["identities"]) };
  if (isOperating(seen)) return { isOpen: true, asks: new Set(forOperations) };
  return isSettled(seen)
    ? { isOpen: false, asks: new Set() }
    : { isOpen: true, asks: new Set(["nodes", "coordination", "identities", "settings"]) };
}

type Known = Pick<Seen, "cluster" | "status" | "pods" | "volumes" | "statefulSets" | "material">;

/** A node is restarted or removed, or should be. */
function isOperating(known: Known): boolean {
  const { status, statefulSets, cluster } = known;
  if (status.operation !== undefined || outdatedPods(known).length > 0) return true;
  return [...statefulSets].some(
    ([name, { spec }]) =>
      (spec.replicas ?? 0) > (cluster.pools.find((pool) => pool.name === name)?.replicas ?? 0),
  );
}

function isSettled(known: Known): boolean {
  const { cluster, status } = known;
  return (
    saysReady(status) &&
    cluster.pools.flatMap((pool) => podNames(cluster, pool)).every((name) => isTold(known, name))
  );
}

/** Whether the status says of a node all that the engine would, and nothing has changed since. */
function isTold({ status, pods, volumes }: Known, name: string): boolean {
  const pod = pods.find((each) => each.name === name);
  const told = status.nodes?.find((each) => each.name === name);
  const volume = volumes.find(({ node }) => node === name);
  if (pod?.isReady !== true || told?.member !== true || told.voter === undefined) return false;
  return told.podUid === pod.uid && (volume === undefined || markedFor(volume, status.clusterUuid));
}
