import type { PodDisruptionBudget } from "@quartermaster/runtime/kinds";

import { poolNames } from "../model/cluster-names.ts";
import type { NodePool, SearchCluster } from "../model/search-cluster.ts";
import type { Seen } from "../seen.ts";
import { clusterLabels, poolLabels } from "../workload/cluster-labels.ts";

/**
 * One budget for all pools that have none of their own: one pod may be evicted while the cluster is green and nodes are not being
 * restarted or removed by us, none otherwise. A single node
 * may always go: there is no moment at which its eviction would be safer.
 */
export function disruptionBudgets(
  seen: Pick<Seen, "cluster" | "engine" | "status">,
): readonly PodDisruptionBudget[] {
  const { cluster } = seen;
  const own = cluster.pools.filter(({ pdb }) => pdb !== undefined);
  const rest = cluster.pools.filter(({ pdb }) => pdb === undefined);
  return [
    ...own.map((pool) => ownBudget(cluster, pool)),
    ...(rest.length === 0 ? [] : [sharedBudget(seen, own)]),
  ];
}

function ownBudget(cluster: SearchCluster, pool: NodePool): PodDisruptionBudget {
  return budget(cluster, `${poolNames(cluster, pool).statefulSet}-pdb`, {
    ...pool.pdb,
    selector: { matchLabels: poolLabels(cluster, pool) },
  });
}

function sharedBudget(
  { cluster, engine, status }: Pick<Seen, "cluster" | "engine" | "status">,
  own: readonly NodePool[],
): PodDisruptionBudget {
  const nodes = cluster.pools.reduce((sum, { replicas }) => sum + replicas, 0);
  const isGreen = engine.health.isKnown && engine.health.value.status === "green";
  // From the first node of a roll to the last, not only while one of them is away.
  const isUnderWay =
    status.operation !== undefined ||
    status.nodePools?.some(
      ({ outdated = 0, desired = 0, target = 0 }) => outdated > 0 || target > desired,
    ) === true;
  const [poolKey = ""] = Object.keys(poolLabels(cluster, { name: "" })).filter(
    (key) => !(key in clusterLabels(cluster)),
  );
  const excluded =
    own.length === 0
      ? {}
      : { matchExpressions: [{ key: poolKey, operator: "NotIn", values: own.map(({ name }) => name) }] };
  return budget(cluster, `${cluster.name}-pdb`, {
    maxUnavailable: (isGreen && !isUnderWay) || nodes === 1 ? 1 : 0,
    selector: { matchLabels: clusterLabels(cluster), ...excluded },
  });
}

function budget(
  cluster: SearchCluster,
  name: string,
  spec: NonNullable<PodDisruptionBudget["spec"]>,
): PodDisruptionBudget {
  const { namespace } = cluster;
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace, labels: clusterLabels(cluster) },
    spec,
  };
}
