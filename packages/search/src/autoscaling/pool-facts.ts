import { disruptionState } from "../facts/disruption-state.ts";
import { dataTiers, nodeNamed } from "../facts/node-facts.ts";
import { isDataPool, type NodePool } from "../model/search-cluster.ts";
import { removalPrecheck } from "../removal/removal-precheck.ts";
import type { ClusterStatus, Seen } from "../seen.ts";
import type { PoolFacts } from "./recommend.ts";

export type PoolRow = NonNullable<NonNullable<ClusterStatus["autoscaling"]>["pools"]>[number];

/** A removal that was refused is not tried again before this, however short the cooldown. */
const refusedForMs = 600_000;

export function poolFacts(pool: NodePool, seen: Seen, now: Date): Omit<PoolFacts, "growsVolumes"> {
  const before = rowOf(seen, pool);
  return {
    replicas: pool.replicas,
    isGreen: seen.engine.health.isKnown && seen.engine.health.value.status === "green",
    isIdle: isIdle(seen),
    indexFloor: indexFloor(pool, seen),
    isRefused: isRefused(pool, seen, now),
    lastScaleUpMs: timeOf(before?.lastScaleUpTime),
    lastScaleDownMs: timeOf(before?.lastScaleDownTime),
  };
}

/** The row of the status. */
export function rowOf(
  { status }: Pick<Seen, "status">,
  { name }: Pick<NodePool, "name">,
): PoolRow | undefined {
  return status.autoscaling?.pools?.find(({ pool }) => pool === name);
}

/** Nodes that the pool has a place for. */
export function slotsOf(
  { statefulSets }: Pick<Seen, "statefulSets">,
  { name }: Pick<NodePool, "name">,
): number {
  return statefulSets.get(name)?.spec.replicas ?? 0;
}

function timeOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

/** Nothing moves, and every pool has the nodes that it has to have. */
function isIdle(seen: Seen): boolean {
  const { engine, status, cluster, pods } = seen;
  if (status.operation !== undefined || !engine.health.isKnown) return false;
  const { relocatingShards, initializingShards, nodes } = engine.health.value;
  const wanted = cluster.pools.reduce((sum, { replicas }) => sum + replicas, 0);
  const isComplete = cluster.pools.every((pool) => slotsOf(seen, pool) === pool.replicas) && nodes === wanted;
  const isRunning = pods.every(({ isReady, isTerminating }) => isReady && !isTerminating);
  return relocatingShards + initializingShards === 0 && isComplete && isRunning;
}

/** No node holds two copies of a shard. Nodes of other pools that serve the same tiers hold some of them. */
function indexFloor(pool: NodePool, { cluster, autoscaling }: Seen): number | undefined {
  if (!isDataPool(pool)) return 0;
  if (autoscaling.mostCopies === undefined) return undefined;
  const elsewhere = cluster.pools
    .filter((other) => other.name !== pool.name && isDataPool(other) && sharesTier(other, pool))
    .reduce((sum, { replicas }) => sum + replicas, 0);
  return Math.max(0, autoscaling.mostCopies - elsewhere);
}

function sharesTier({ roles }: NodePool, { roles: others }: NodePool): boolean {
  const tiers = dataTiers(others);
  return dataTiers(roles).some((tier) => tiers.includes(tier));
}

/** Whether a removal of this pool was refused, and it is too early to try again. */
function isRefused(pool: NodePool, seen: Seen, now: Date): boolean {
  const before = rowOf(seen, pool);
  const sinceMs = timeOf(before?.lastScaleDownTime);
  if (before?.message !== undefined && sinceMs !== undefined && now.getTime() - sinceMs < refusedForMs)
    return true;
  return stalledDrainOf(pool, seen, now) !== undefined;
}

function stalledDrainOf(pool: NodePool, { status, cluster }: Seen, now: Date): string | undefined {
  const { stalledDrain } = status;
  if (stalledDrain === undefined || now.getTime() >= Date.parse(stalledDrain.retryAt)) return undefined;
  const isOurs = stalledDrain.node.startsWith(`${cluster.name}-${pool.name}-`);
  return isOurs ? stalledDrain.message : undefined;
}

/** Why the node that auto-scaling took from the pool cannot go; undefined while it may. */
export function refusalOf(pool: NodePool, seen: Seen, now: Date): string | undefined {
  const slots = slotsOf(seen, pool);
  if (slots <= pool.replicas) return undefined;
  const stalled = stalledDrainOf(pool, seen, now);
  if (stalled !== undefined) return stalled;
  const state = disruptionState(seen);
  const last = `${seen.cluster.name}-${pool.name}-${String(slots - 1)}`;
  const node = nodeNamed(state.nodes, last);
  const precheck = node === undefined ? undefined : removalPrecheck(node, { seen, state });
  return precheck?.kind === "refused" ? `${last} is not removed: ${precheck.message}.` : undefined;
}
