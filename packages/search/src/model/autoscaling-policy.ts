import { quantityBytes } from "./quantity-units.ts";
import type { ClusterObject } from "./read-cluster.ts";
import { isManagerPool, type NodePool } from "./search-cluster.ts";

export type MetricType =
  | "Cpu"
  | "Heap"
  | "Disk"
  | "ShardsPerNode"
  | "SearchQueue"
  | "WriteRejections"
  | "Prometheus";

/** Key of a metric of a pool: there may be many queries. The prefix also keeps names of an author's from meaning anything else. */
export type MetricKey = Exclude<MetricType, "Prometheus"> | `Prometheus:${string}`;

/** How a pool follows its load; left out where its mode is Off. */
export interface AutoscalingPolicy {
  /** Recommend tells, Auto acts. */
  readonly mode: "Recommend" | "Auto";
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly metrics: readonly MetricTarget[];
  readonly scaleUp: ScalingPace;
  readonly scaleDown: ScalingPace;
  /** Volumes grow before nodes are added for full disks; undefined: they stay as they are. */
  readonly storage: StorageGrowth | undefined;
}

/** How volumes grow. */
export interface StorageGrowth {
  /** Undefined: what is written is no size, which the check tells. */
  readonly maxBytes: number | undefined;
  readonly growAtPercent: number;
  readonly stepPercent: number;
}

/** Target of a metric for one node: percent, or a number. */
export interface MetricTarget {
  readonly type: MetricType;
  readonly target: number;
  /** Of type Prometheus only. */
  readonly query?: string | undefined;
}

/** The key of a metric. */
export function metricKey({ type, query = "" }: Pick<MetricTarget, "type" | "query">): MetricKey {
  return type === "Prometheus" ? queryKey(query) : type;
}

/** The key of a metric of type Prometheus. */
export function queryKey(query: string): MetricKey {
  return `Prometheus:${query}`;
}

export function queriesOf(pools: readonly Pick<NodePool, "autoscaling">[]): readonly string[] {
  const metrics = pools.flatMap(({ autoscaling }) => autoscaling?.metrics ?? []);
  return [...new Set(metrics.flatMap(({ type, query }) => (type === "Prometheus" ? (query ?? []) : [])))];
}

/** How fast a pool may change in one direction. */
export interface ScalingPace {
  /** For so long every sample must request it. */
  readonly stabilizationMs: number;
  /** Nodes per change. */
  readonly maxStep: number;
  /** Time between two changes. */
  readonly cooldownMs: number;
}

type PoolSpec = ClusterObject["spec"]["nodePools"][number];
type PaceSpec = NonNullable<PoolSpec["autoscaling"]>["scaleUp"];

const byDefault = {
  up: { stabilizationSeconds: 120, maxStep: 2, cooldownSeconds: 300 },
  down: { stabilizationSeconds: 1800, maxStep: 1, cooldownSeconds: 3600 },
} as const;

/** The policy of a pool; undefined where there is none, or it is off. */
export function readAutoscaling({ autoscaling }: PoolSpec): AutoscalingPolicy | undefined {
  if (autoscaling === undefined || autoscaling.mode === "Off") return undefined;
  const { mode, minReplicas, maxReplicas, metrics, scaleUp, scaleDown, storage } = autoscaling;
  return {
    mode,
    minReplicas,
    maxReplicas,
    metrics,
    scaleUp: paceOf(scaleUp, byDefault.up),
    scaleDown: paceOf(scaleDown, byDefault.down),
    storage:
      storage === undefined
        ? undefined
        : {
            maxBytes: quantityBytes(storage.maxSize),
            growAtPercent: storage.growAtPercent,
            stepPercent: storage.stepPercent,
          },
  };
}

function paceOf(spec: PaceSpec, otherwise: Required<NonNullable<PaceSpec>>): ScalingPace {
  const { stabilizationSeconds, maxStep, cooldownSeconds } = { ...otherwise, ...spec };
  return { stabilizationMs: stabilizationSeconds * 1000, maxStep, cooldownMs: cooldownSeconds * 1000 };
}

/**
 * How many nodes a pool has to have: what the spec says, or what auto-scaling has decided. The target is in the status and never in
 * the spec, which others apply again; `replicas` is where it starts. Nothing but this reads the target.
 */
export function effectiveReplicas(pool: NodePool, status: ClusterObject["status"]): number {
  const { autoscaling, name, replicas } = pool;
  if (autoscaling?.mode !== "Auto" || isManagerPool(pool)) return replicas;
  const row = status?.autoscaling?.pools?.find((each) => each.pool === name);
  return withinLimits(row?.target ?? replicas, autoscaling);
}

/** The number, or the limit that it passes. */
export function withinLimits(
  replicas: number,
  { minReplicas, maxReplicas }: Pick<AutoscalingPolicy, "minReplicas" | "maxReplicas">,
): number {
  return Math.max(minReplicas, Math.min(maxReplicas, replicas));
}
