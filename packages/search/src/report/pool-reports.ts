import { outdatedPods } from "../nodes/outdated-pods.ts";
import type { ClusterStatus, Seen } from "../seen.ts";

type PoolReport = NonNullable<ClusterStatus["nodePools"]>[number];

/** One row per pool, those that are no longer declared too. */
export function poolReports(seen: Seen): PoolReport[] {
  const { cluster, statefulSets, pods } = seen;
  const outdated = new Set(outdatedPods(seen));
  const names = new Set([...cluster.pools.map(({ name }) => name), ...statefulSets.keys()]);
  return [...names].map((component) => {
    const own = pods.filter(({ pool }) => pool === component);
    const present = statefulSets.get(component)?.spec.replicas ?? 0;
    const desired = cluster.pools.find(({ name }) => name === component)?.replicas ?? 0;
    return {
      component,
      desired,
      target: Math.max(desired, present),
      ready: own.filter(({ isReady }) => isReady).length,
      current: own.filter(({ name }) => !outdated.has(name)).length,
      outdated: own.filter(({ name }) => outdated.has(name)).length,
    };
  });
}
