import type { AutoscalingPolicy, StorageGrowth } from "../model/autoscaling-policy.ts";
import type { PoolSample } from "./pool-sample.ts";
import { windowOf } from "./sample-window.ts";

/** What is known of the volumes of a pool. */
export interface VolumesFacts {
  /** What the largest of them asks for, or has to have. */
  readonly sizeBytes: number;
  /** One of them has not got there yet. */
  readonly isGrowing: boolean;
  /** The API server has refused a short while ago. */
  readonly isRefused: boolean;
  readonly lastGrowthMs: number | undefined;
}

/** How large the volumes of a pool should be. */
export interface VolumeDecision {
  readonly sizeBytes: number;
  /** They can still grow: nodes are not added for full disks. */
  readonly isFirst: boolean;
}

const mebibyte = 1024 ** 2;

/** Volumes grow by a step if every sample of the window shows full disks and the last growth is done; they never shrink. */
export function volumeGrowth(
  samples: readonly PoolSample[],
  policy: Pick<AutoscalingPolicy, "scaleUp"> & { readonly storage: StorageGrowth },
  { facts, nowMs }: { readonly facts: VolumesFacts; readonly nowMs: number },
): VolumeDecision {
  const { storage, scaleUp } = policy;
  const { sizeBytes, isGrowing, isRefused, lastGrowthMs } = facts;
  const mostBytes = Math.floor((storage.maxBytes ?? 0) / mebibyte) * mebibyte;
  if (isRefused || sizeBytes >= mostBytes) return { sizeBytes, isFirst: false };
  const { samples: recent, hole } = windowOf(
    samples.filter(({ atMs }) => atMs <= nowMs),
    scaleUp,
    nowMs,
  );
  const isFull = recent.every(({ values }) => (values.Disk ?? 0) >= storage.growAtPercent);
  const isCooling = lastGrowthMs !== undefined && nowMs - lastGrowthMs < scaleUp.cooldownMs;
  if (hole !== undefined || !isFull || isGrowing || isCooling) return { sizeBytes, isFirst: true };
  const grown = Math.ceil((sizeBytes * (1 + storage.stepPercent / 100)) / mebibyte) * mebibyte;
  return { sizeBytes: Math.min(mostBytes, grown), isFirst: true };
}
