import { type AutoscalingPolicy, metricKey, withinLimits } from "../model/autoscaling-policy.ts";
import { type SampleWindow, windowOf } from "./cluster-window.ts";
import { type PoolSample, sampleResponse } from "./pool-sample.ts";

/** Why a pool does not get the nodes that its load requests, or not all of them yet. */
export type LimitReason =
  | "Cooldown"
  | "ExpansionUnsupported"
  | "IndexReplicas"
  | "IndexReplicasUnknown"
  | "MaxReplicas"
  | "MinReplicas"
  | "NotGreen"
  | "NotIdle"
  | "PrometheusSilent"
  | "SamplesMissing"
  | "ScaleDownRefused"
  | "Step"
  | "VolumesFirst"
  | "WindowFilling";

export interface PoolFacts {
  /** Nodes that it has to have now. */
  readonly replicas: number;
  readonly isGreen: boolean;
  /** No shard moves, no node is restarted, removed or missing. */
  readonly isIdle: boolean;
  /** Fewest nodes that the copies of every index fit on; undefined while no one knows. */
  readonly indexFloor: number | undefined;
  /** A removal that the rest of the cluster could not bear was refused a short while ago. */
  readonly isRefused: boolean;
  /** Volumes can still grow: full disks request no more nodes. */
  readonly growsVolumes: boolean;
  readonly lastScaleUpMs: number | undefined;
  readonly lastScaleDownMs: number | undefined;
}

/** How many nodes a pool should have. */
export interface Recommendation {
  /** Where it should end, within its limits. */
  readonly recommendation: number;
  /** Target for now: the same, one step towards it, or no change. */
  readonly target: number;
  /** Sorted; empty when nothing holds it back. */
  readonly limitedBy: readonly LimitReason[];
  /** Number that each metric alone would require. */
  readonly metrics: readonly MetricResponse[];
}

export interface MetricResponse {
  readonly type: AutoscalingPolicy["metrics"][number]["type"];
  readonly target: number;
  readonly recommendation: number;
}

/** A response to a query may be any number; the status tells none that no pool can have. */
const mostNodes = 1_000_000;

/**
 * Says how many nodes a pool should have. The metric that requests most wins. More nodes only if every sample of the window requests
 * more, and then as many as the most modest one; fewer only if every sample can do with fewer, and then as many as the greediest one.
 * What is missing never requests more and never allows less.
 */
export function recommend(
  samples: readonly PoolSample[],
  policy: AutoscalingPolicy,
  { facts, nowMs }: { readonly facts: PoolFacts; readonly nowMs: number },
): Recommendation {
  const current = withinLimits(facts.replicas, policy);
  const known = samples.filter(({ atMs }) => atMs <= nowMs);
  const [up, down] = [policy.scaleUp, policy.scaleDown].map((pace) => windowOf(known, pace, nowMs));
  const metrics = policy.metrics.map((metric) => ({
    type: metric.type,
    target: metric.target,
    recommendation: Math.min(mostNodes, wantedBy([metric], { up, down, current })),
  }));
  const all = wantedBy(policy.metrics, { up, down, current });
  const others = policy.metrics.filter(({ type }) => type !== "Disk");
  // Full disks request larger volumes first.
  const isPutOff = facts.growsVolumes && all > current;
  const wanted = isPutOff ? Math.max(current, wantedBy(others, { up, down, current })) : all;
  const decision = towards({ wanted, current, policy, facts, nowMs }, { up, down });
  const put: readonly LimitReason[] = wanted < all ? ["VolumesFirst"] : [];
  const silence = wanted === current ? silenceOf(policy.metrics, { up, down, current }) : [];
  return { ...decision, limitedBy: [...decision.limitedBy, ...put, ...silence].toSorted(), metrics };
}

/** Whether nodes stay only because a query had no result all through the window: the known values need fewer. */
function silenceOf(
  metrics: AutoscalingPolicy["metrics"],
  { down, current }: Windows & { readonly current: number },
): readonly LimitReason[] {
  const samples = down?.samples ?? [];
  const known = samples.map((sample) =>
    metrics.filter(
      (metric) => metric.type !== "Prometheus" || sample.values[metricKey(metric)] !== undefined,
    ),
  );
  const isSilent = known.some((reported) => reported.length < metrics.length);
  const fewer = Math.max(...samples.map((sample, at) => sampleResponse(sample, known[at] ?? []).down));
  return isSilent && fewer < current ? ["PrometheusSilent"] : [];
}

interface Windows {
  readonly up: SampleWindow | undefined;
  readonly down: SampleWindow | undefined;
}

function towards(change: Change, { up, down }: Windows): Limited {
  const { wanted, current } = change;
  if (wanted > current) return growth(change, up);
  if (wanted < current) return shrinkage(change, down);
  const limitedBy: readonly LimitReason[] = up?.hole === "SamplesMissing" ? ["SamplesMissing"] : [];
  return { recommendation: current, target: current, limitedBy };
}

function wantedBy(
  metrics: AutoscalingPolicy["metrics"],
  { up, down, current }: Windows & { readonly current: number },
): number {
  const more = Math.min(...(up?.samples ?? []).map((sample) => sampleResponse(sample, metrics).up));
  if (Number.isFinite(more) && more > current) return more;
  const fewer = Math.max(...(down?.samples ?? []).map((sample) => sampleResponse(sample, metrics).down));
  return Number.isFinite(fewer) && fewer < current ? fewer : current;
}

interface Change {
  readonly wanted: number;
  readonly current: number;
  readonly policy: AutoscalingPolicy;
  readonly facts: PoolFacts;
  readonly nowMs: number;
}

type Limited = Omit<Recommendation, "metrics">;

function growth(
  { wanted, current, policy, facts, nowMs }: Change,
  window: SampleWindow | undefined,
): Limited {
  const { maxStep, cooldownMs } = policy.scaleUp;
  const recommendation = Math.min(wanted, policy.maxReplicas);
  const stops: readonly LimitReason[] = [
    ...holeIn(window),
    ...(isCooling(facts.lastScaleUpMs, cooldownMs, nowMs) ? (["Cooldown"] as const) : []),
  ];
  const next = Math.min(recommendation, current + maxStep);
  return limited({
    recommendation,
    target: stops.length > 0 ? current : next,
    limits: [
      ...(wanted > policy.maxReplicas ? (["MaxReplicas"] as const) : []),
      ...(recommendation > current ? stops : []),
      ...(stops.length === 0 && next < recommendation ? (["Step"] as const) : []),
    ],
  });
}

function shrinkage(
  { wanted, current, policy, facts, nowMs }: Change,
  window: SampleWindow | undefined,
): Limited {
  const { maxStep } = policy.scaleDown;
  const floor = Math.min(current, facts.indexFloor ?? 0);
  const recommendation = Math.max(wanted, policy.minReplicas, floor);
  const stops = [...holeIn(window), ...dangers(facts), ...cooling(policy, facts, nowMs)];
  const next = Math.max(recommendation, current - maxStep);
  return limited({
    recommendation,
    target: stops.length > 0 ? current : next,
    limits: [
      ...(wanted < policy.minReplicas ? (["MinReplicas"] as const) : []),
      ...(Math.max(wanted, policy.minReplicas) < floor ? (["IndexReplicas"] as const) : []),
      ...(recommendation < current ? stops : []),
      ...(stops.length === 0 && next > recommendation ? (["Step"] as const) : []),
    ],
  });
}

function limited({
  recommendation,
  target,
  limits,
}: {
  readonly recommendation: number;
  readonly target: number;
  readonly limits: readonly LimitReason[];
}): Limited {
  return { recommendation, target, limitedBy: limits.toSorted() };
}

function holeIn(window: SampleWindow | undefined): readonly LimitReason[] {
  return window?.hole === undefined ? [] : [window.hole];
}

/** Reasons not to remove a node. */
function dangers({ isGreen, isIdle, indexFloor, isRefused }: PoolFacts): readonly LimitReason[] {
  return [
    ...(isGreen ? [] : (["NotGreen"] as const)),
    ...(isIdle ? [] : (["NotIdle"] as const)),
    ...(indexFloor === undefined ? (["IndexReplicasUnknown"] as const) : []),
    ...(isRefused ? (["ScaleDownRefused"] as const) : []),
  ];
}

/** Nodes that came a short while ago have hardly taken any load yet: they do not go again immediately either. */
function cooling({ scaleDown }: AutoscalingPolicy, facts: PoolFacts, nowMs: number): readonly LimitReason[] {
  const { cooldownMs } = scaleDown;
  const isHot =
    isCooling(facts.lastScaleDownMs, cooldownMs, nowMs) || isCooling(facts.lastScaleUpMs, cooldownMs, nowMs);
  return isHot ? ["Cooldown"] : [];
}

/** A time that has not come yet is a clock that was set back: it counts. */
function isCooling(sinceMs: number | undefined, cooldownMs: number, nowMs: number): boolean {
  return sinceMs !== undefined && nowMs - sinceMs < cooldownMs;
}
