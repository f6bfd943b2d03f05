import type { ScalingPace } from "../model/autoscaling-policy.ts";
import type { PoolSample } from "./pool-sample.ts";

/** Samples farther apart than this have a hole between them. */
export const longestGapMs = 90_000;

/** Samples that have a say in one direction. */
export interface SampleWindow {
  readonly samples: readonly PoolSample[];
  /** Why they prove nothing yet. */
  readonly hole: "SamplesMissing" | "WindowFilling" | undefined;
}

/** The samples of the last while, and whether they are all there. */
export function windowOf(
  all: readonly PoolSample[],
  { stabilizationMs }: Pick<ScalingPace, "stabilizationMs">,
  nowMs: number,
): SampleWindow {
  const beginMs = nowMs - stabilizationMs;
  // The last one before it began says how it began.
  const first = all.findLastIndex(({ atMs }) => atMs <= beginMs);
  const samples = all.slice(Math.max(0, first));
  const times = [...samples.map(({ atMs }) => Math.max(atMs, beginMs)), nowMs];
  const isTorn = times.some((atMs, at) => atMs - (times[at - 1] ?? atMs) > longestGapMs);
  if (samples.length === 0 || isTorn) return { samples, hole: "SamplesMissing" };
  return { samples, hole: first < 0 ? "WindowFilling" : undefined };
}
