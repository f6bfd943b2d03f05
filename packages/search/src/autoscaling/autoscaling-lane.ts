import { type ReconcileEvent, settled, timestampOf, waiting } from "@quartermaster/runtime";

import { type LaneRule, nothingToDo, type SearchLane } from "../lane.ts";
import { type AutoscalingPolicy, withinLimits } from "../model/autoscaling-policy.ts";
import { isManagerPool, type NodePool } from "../model/search-cluster.ts";
import { searchReasons } from "../reasons.ts";
import type { SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import { slotsOf, poolFacts, type PoolRow, refusalOf, rowOf } from "./pool-facts.ts";
import { recommend, type Recommendation } from "./recommend.ts";
import { growClaims, decideVolumes, type VolumesDecision } from "./volume-growth.ts";

/** Time for the status to be written and read back: nodes come and go only by what is in it. */
const nextReconcileMs = 20;

/** Status of every pool with auto-scaling. Pure; `qm` and the events use it too. */
export function autoscalingRows(seen: Seen, now: Date): readonly PoolRow[] {
  return seen.cluster.pools.flatMap((pool) =>
    pool.autoscaling === undefined ? [] : [poolRow(pool, pool.autoscaling, { seen, now })],
  );
}

interface Observation {
  readonly seen: Seen;
  readonly now: Date;
}

function poolRow(pool: NodePool, policy: AutoscalingPolicy, sample: Observation): PoolRow {
  const volumes = decideVolumes(pool, policy, sample);
  const advised = recommendedFor(pool, policy, { ...sample, volumes });
  const row = {
    ...volumes?.row,
    pool: pool.name,
    mode: policy.mode,
    current: slotsOf(sample.seen, pool),
    recommendation: advised.recommendation,
    metrics: advised.metrics.map((metric) => ({ ...metric })),
  };
  if (policy.mode === "Recommend" || isManagerPool(pool)) return { ...row, ...limits(advised.limitedBy) };
  return { ...row, ...decision(pool, advised, sample) };
}

type Recommended = Pick<PoolRow, "recommendation"> &
  Pick<Recommendation, "target"> & {
    readonly limitedBy: readonly string[];
    readonly metrics: NonNullable<PoolRow["metrics"]>;
  };

/** The number that the load requires. */
function recommendedFor(
  pool: NodePool,
  policy: AutoscalingPolicy,
  { seen, now, volumes }: Observation & { readonly volumes: VolumesDecision | undefined },
): Recommended {
  const samples = seen.autoscaling.samples.get(pool.name) ?? [];
  const facts = { ...poolFacts(pool, seen, now), growsVolumes: volumes?.isFirst === true };
  const recommended = recommend(samples, policy, { facts, nowMs: now.getTime() });
  const isBlind = samples.length === 0 && seen.autoscaling.hasJustBegun;
  const before = isBlind ? rowOf(seen, pool) : undefined;
  if (before?.mode === policy.mode) return repeated(before, recommended.target, policy);
  const limitedBy = [...recommended.limitedBy, ...(volumes?.limitedBy ?? [])];
  return { ...recommended, limitedBy, metrics: [...recommended.metrics] };
}

/** An operator that has just begun has no samples yet and repeats the earlier values. */
function repeated(before: PoolRow, target: number, policy: AutoscalingPolicy): Recommended {
  const { recommendation = target, limitedBy = [], metrics = [] } = before;
  return { recommendation: withinLimits(recommendation, policy), target, limitedBy, metrics };
}

type Decision = Pick<PoolRow, "target" | "limitedBy" | "message" | "lastScaleUpTime" | "lastScaleDownTime">;

function decision(pool: NodePool, recommended: Recommended, { seen, now }: Observation): Decision {
  const before = rowOf(seen, pool);
  const refusal = refusalOf(pool, seen, now);
  if (refusal !== undefined) return refused(refusal, pool, { decision: recommended, seen });
  const { target, limitedBy } = recommended;
  return {
    ...timesOf(before),
    ...(target > pool.replicas ? { lastScaleUpTime: timestampOf(now) } : {}),
    ...(target < pool.replicas ? { lastScaleDownTime: timestampOf(now) } : {}),
    target,
    ...limits(limitedBy),
    ...(limitedBy.includes("ScaleDownRefused") && before?.message !== undefined
      ? { message: before.message }
      : {}),
  };
}

/** A removal that the rest of the cluster cannot bear is taken back; until then it would count as not carried out. */
function refused(
  message: string,
  pool: NodePool,
  { decision: recommended, seen }: { readonly decision: Recommended; readonly seen: Seen },
): Decision {
  return {
    ...timesOf(rowOf(seen, pool)),
    target: backTo(pool, seen),
    ...limits([...recommended.limitedBy, "ScaleDownRefused"]),
    message: message.slice(0, 1024),
  };
}

function timesOf(row: PoolRow | undefined): Pick<PoolRow, "lastScaleUpTime" | "lastScaleDownTime"> {
  const { lastScaleUpTime, lastScaleDownTime } = row ?? {};
  return {
    ...(lastScaleUpTime === undefined ? {} : { lastScaleUpTime }),
    ...(lastScaleDownTime === undefined ? {} : { lastScaleDownTime }),
  };
}

function limits(limitedBy: readonly string[]): Pick<PoolRow, "limitedBy"> {
  return limitedBy.length === 0 ? {} : { limitedBy: [...new Set(limitedBy)].toSorted() };
}

function backTo(pool: NodePool, seen: Seen): number {
  const slots = slotsOf(seen, pool);
  return pool.autoscaling === undefined ? slots : withinLimits(slots, pool.autoscaling);
}

const notFormed: LaneRule = {
  name: "notFormed",
  decide: ({ status }) => (status.clusterUuid === undefined ? nothingToDo : undefined),
};

const scalePools: LaneRule = {
  name: "scalePools",
  decide: (seen, now) => {
    const rows = autoscalingRows(seen, now);
    const intent = { autoscaling: rows.length === 0 ? undefined : { pools: [...rows] } };
    const actions = [
      ...rows.flatMap((row) => eventsOf(row, seen)),
      ...seen.cluster.pools.flatMap((pool) => growClaims(pool, seen)),
    ];
    const moving = rows.filter((row) => isMoving(row, seen));
    const isGrowing = rows.some((row) => isGrown(row, seen));
    if (moving.length === 0)
      return { actions, outcome: settled(isGrowing ? nextReconcileMs : undefined), intent };
    const changes = moving
      .map(({ pool, target = 0 }) => `pool ${pool} to ${String(target)} nodes`)
      .join(", ");
    return {
      actions,
      outcome: waiting(
        { reason: searchReasons.scaling, message: `Auto-scaling brings ${changes}.` },
        nextReconcileMs,
      ),
      intent,
      actor: "operator",
    };
  },
};

/** Whether the target is not yet what nodes are counted by. */
function isMoving({ pool, target }: PoolRow, { cluster }: Seen): boolean {
  const replicas = cluster.pools.find(({ name }) => name === pool)?.replicas;
  return target !== undefined && target !== replicas;
}

function eventsOf(row: PoolRow, seen: Seen): readonly SearchAction[] {
  const event = isMoving(row, seen) ? scaled(row, seen) : advice(row, seen);
  const grown = isGrown(row, seen) ? [volumesGrow(row)] : [];
  return [...grown, ...(event === undefined ? [] : [event])].map((each) => ({ kind: "record", event: each }));
}

/** Whether volumes have to be larger from now on. */
function isGrown({ pool, lastVolumeGrowthTime }: PoolRow, seen: Seen): boolean {
  return (
    lastVolumeGrowthTime !== undefined &&
    lastVolumeGrowthTime !== rowOf(seen, { name: pool })?.lastVolumeGrowthTime
  );
}

function volumesGrow({ pool, volumeSize = "" }: PoolRow): ReconcileEvent {
  return {
    type: "Normal",
    reason: "VolumeExpanded",
    action: "ExpandVolumes",
    note: `Auto-scaling brings the volumes of pool ${pool} to ${volumeSize}.`,
  };
}

function scaled({ pool, target = 0, message }: PoolRow, { cluster }: Seen): ReconcileEvent {
  const from = cluster.pools.find(({ name }) => name === pool)?.replicas ?? 0;
  if (message !== undefined)
    return {
      type: "Warning",
      reason: searchReasons.scaleDownRefused,
      action: "ScalePool",
      note: `Pool ${pool} stays at ${String(target)} nodes: ${message}`,
    };
  return {
    type: "Normal",
    reason: target > from ? "ScaledUp" : "ScaledDown",
    action: "ScalePool",
    note: `Auto-scaling brings pool ${pool} from ${String(from)} to ${String(target)} nodes.`,
  };
}

/** Only when it is another number than was reported before. */
function advice({ pool, recommendation = 0, mode }: PoolRow, seen: Seen): ReconcileEvent | undefined {
  const before = rowOf(seen, { name: pool })?.recommendation;
  if (mode !== "Recommend" || before === undefined || before === recommendation) return undefined;
  return {
    type: "Normal",
    reason: "RecommendationChanged",
    action: "Recommend",
    note: `Pool ${pool} should have ${String(recommendation)} nodes; before it was ${String(before)}.`,
  };
}

/** Decides how many nodes pools with auto-scaling have to have. Others carry it out. */
export const autoscalingLane: SearchLane = { name: "autoscaling", rules: [notFormed, scalePools] };
