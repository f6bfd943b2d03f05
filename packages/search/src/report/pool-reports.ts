import { outdatedPods } from "../facts/node-facts.ts";
import type { ClusterStatus, Seen } from "../seen.ts";
import type { OperatedNode } from "./operated-node.ts";

type PoolReport = NonNullable<ClusterStatus["nodePools"]>[number];

/** One row per pool, those that are no longer declared too. */
export function poolReports(seen: Seen, { away }: OperatedNode): PoolReport[] {
  const { cluster, statefulSets } = seen;
  const pods = seen.pods.filter(({ name }) => name !== away);
  const outdated = new Set(outdatedPods(seen));
  const isFormed = seen.status.clusterUuid !== undefined;
  const names = new Set([...cluster.pools.map(({ name }) => name), ...statefulSets.keys()]);
  return [...names].map((component) => {
    const own = pods.filter(({ pool }) => pool === component);
    const present = statefulSets.get(component)?.spec.replicas ?? 0;
    const desired = cluster.pools.find(({ name }) => name === component)?.replicas ?? 0;
    // Until it has formed, pods that come up one by one decide nothing and would be written with each: they are told once all are ready.
    const isTold = isFormed || (own.length >= desired && own.every(({ isReady }) => isReady));
    return {
      component,
      desired,
      target: Math.max(desired, present),
      ...(isTold
        ? {
            ready: own.filter(({ isReady }) => isReady).length,
            current: own.filter(({ name }) => !outdated.has(name)).length,
            outdated: own.filter(({ name }) => outdated.has(name)).length,
          }
        : {}),
    };
  });
}
