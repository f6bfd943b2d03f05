import type { PoolSample } from "../../src/autoscaling/pool-sample.ts";
import type { PoolFacts } from "../../src/autoscaling/recommend.ts";
import type { AutoscalingPolicy } from "../../src/model/autoscaling-policy.ts";

/** Half past two in the afternoon. */
export const nowMs = Date.parse("2026-11-17T14:30:00Z");

/** 60 % CPU, two to ten nodes, the standard pace. */
export function aPolicy(changes: Partial<AutoscalingPolicy> = {}): AutoscalingPolicy {
  return {
    mode: "Auto",
    minReplicas: 2,
    maxReplicas: 10,
    metrics: [{ type: "Cpu", target: 60 }],
    scaleUp: { stabilizationMs: 120_000, maxStep: 2, cooldownMs: 300_000 },
    scaleDown: { stabilizationMs: 1_800_000, maxStep: 1, cooldownMs: 3_600_000 },
    storage: undefined,
    ...changes,
  };
}

/** Four nodes of a green, idle cluster whose indices have one replica. */
export function poolFacts(changes: Partial<PoolFacts> = {}): PoolFacts {
  return {
    replicas: 4,
    isGreen: true,
    isIdle: true,
    indexFloor: 2,
    isRefused: false,
    growsVolumes: false,
    lastScaleUpMs: undefined,
    lastScaleDownMs: undefined,
    ...changes,
  };
}

/** Samples each 30 s up to now: what each had, the newest last. */
export function samplesOf(
  values: readonly PoolSample["values"][],
  changes: Partial<Omit<PoolSample, "values">> = {},
): readonly PoolSample[] {
  return values.map((each, at) => ({
    atMs: nowMs - (values.length - 1 - at) * 30_000,
    nodes: 4,
    missing: 0,
    values: each,
    ...changes,
  }));
}

/** The same value for so many minutes. */
export function steady(
  values: PoolSample["values"],
  minutes: number,
  changes: Partial<Omit<PoolSample, "values">> = {},
): readonly PoolSample[] {
  return samplesOf(
    Array.from({ length: minutes * 2 + 1 }, () => values),
    changes,
  );
}
