import { classify, timestampOf } from "@quartermaster/runtime";
import { type PersistentVolumeClaim, persistentVolumeClaims } from "@quartermaster/runtime/kinds";

import type { VolumeFacts } from "../formation/volume-facts.ts";
import type { AutoscalingPolicy, StorageGrowth } from "../model/autoscaling-policy.ts";
import { quantityBytes } from "../model/quantity-units.ts";
import { type NodePool, podNames } from "../model/search-cluster.ts";
import type { PerformContext } from "../perform-context.ts";
import type { ActionOf, SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import { windowOf } from "./cluster-window.ts";
import { type PoolRow, rowOf } from "./pool-facts.ts";
import type { PoolSample } from "./pool-sample.ts";

export interface VolumesFacts {
  /** Size of the largest of them, requested or required. */
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

/** Status of the volumes of a pool, and whether they come before nodes. */
export interface VolumesDecision {
  readonly row: Pick<PoolRow, "volumeSize" | "lastVolumeGrowthTime">;
  readonly isFirst: boolean;
  readonly limitedBy: readonly string[];
}

/** Decides upon the volumes of a pool in mode Auto; undefined where they are none of our business. */
export function decideVolumes(
  pool: NodePool,
  policy: AutoscalingPolicy,
  { seen, now }: { readonly seen: Seen; readonly now: Date },
): VolumesDecision | undefined {
  const { storage } = policy;
  const claims = policy.mode === "Auto" ? claimsOf(pool, seen) : [];
  if (storage === undefined || claims.length === 0) return undefined;
  const facts = volumesFacts(pool, claims, seen);
  const samples = seen.autoscaling.samples.get(pool.name) ?? [];
  const decision = volumeGrowth(samples, { ...policy, storage }, { facts, nowMs: now.getTime() });
  const isGrown = decision.sizeBytes > facts.sizeBytes;
  const time = isGrown ? timestampOf(now) : rowOf(seen, pool)?.lastVolumeGrowthTime;
  // As long as nothing was decided, volumes have the size that they were made with.
  const size = isGrown || facts.decidedBytes > 0 ? { volumeSize: quantityOf(decision.sizeBytes) } : {};
  return {
    row: { ...size, ...(time === undefined ? {} : { lastVolumeGrowthTime: time }) },
    isFirst: decision.isFirst,
    limitedBy: facts.limitedBy,
  };
}

function volumesFacts(
  pool: NodePool,
  claims: readonly VolumeFacts[],
  seen: Seen,
): VolumesFacts & { readonly decidedBytes: number; readonly limitedBy: readonly string[] } {
  const time = rowOf(seen, pool)?.lastVolumeGrowthTime;
  const isRefused = seen.autoscaling.refusedVolumes.has(pool.name);
  const decidedBytes = isRefused ? 0 : decidedSize(pool, seen);
  return {
    decidedBytes,
    sizeBytes: Math.max(decidedBytes, ...claims.map((claim) => claim.sizeBytes ?? 0)),
    isGrowing: claims.some((claim) => !isLargeEnough(claim, decidedBytes)),
    isRefused,
    limitedBy: isRefused ? ["ExpansionUnsupported"] : [],
    lastGrowthMs: time === undefined ? undefined : Date.parse(time),
  };
}

function quantityOf(bytes: number): string {
  return `${String(Math.ceil(bytes / mebibyte))}Mi`;
}

function claimsOf(pool: NodePool, { cluster, volumes }: Seen): readonly VolumeFacts[] {
  const names = new Set(podNames(cluster, pool));
  return pool.storage.kind === "volume" ? volumes.filter(({ node }) => names.has(node)) : [];
}

/** Size by the status; a value beyond the limit is ignored. */
function decidedSize(pool: NodePool, seen: Pick<Seen, "status">): number {
  const decided = quantityBytes(rowOf(seen, pool)?.volumeSize) ?? 0;
  return Math.min(decided, pool.autoscaling?.storage?.maxBytes ?? 0);
}

/** It requests enough, and has got what it requests. */
function isLargeEnough({ sizeBytes = 0, capacityBytes = 0 }: VolumeFacts, wantedBytes: number): boolean {
  return sizeBytes >= wantedBytes && capacityBytes >= sizeBytes;
}

/** Brings the claims of a pool to the size that is in the status already; upwards only. */
export function growClaims(pool: NodePool, seen: Seen): readonly SearchAction[] {
  const wanted = decidedSize(pool, seen);
  if (pool.autoscaling?.mode !== "Auto" || seen.autoscaling.refusedVolumes.has(pool.name)) return [];
  return claimsOf(pool, seen)
    .filter(({ sizeBytes, capacityBytes }) => isBound(capacityBytes) && (sizeBytes ?? wanted) < wanted)
    .map(({ name, uid }) => ({ kind: "growClaim", pool: pool.name, name, uid, size: quantityOf(wanted) }));
}

/** A claim without a volume cannot grow, and would be refused. */
function isBound(capacityBytes: number | undefined): boolean {
  return capacityBytes !== undefined;
}

/**
 * Requests a larger volume, of the claim that was seen and no other, and never for a smaller one. The API server itself refuses where the
 * StorageClass does not allow it, or a quota is used up: that is remembered, and nodes are added instead.
 */
export async function growClaim(
  { name, uid, size, pool }: ActionOf<"growClaim">,
  { ctx, cluster, windows }: PerformContext,
): Promise<void> {
  const ref = { namespace: cluster.namespace, name };
  const live = await ctx.client.find(persistentVolumeClaims, ref);
  if (live?.metadata.uid !== uid || !isSmaller(live, size)) return;
  const { resourceVersion } = live.metadata;
  try {
    await ctx.client.patch(persistentVolumeClaims, ref, {
      patch: {
        kind: "merge",
        body: { metadata: { uid, resourceVersion }, spec: { resources: { requests: { storage: size } } } },
      },
    });
  } catch (error) {
    if (!["forbidden", "invalid"].includes(classify(error))) throw error;
    windows.refuseVolumes(cluster.uid, pool);
  }
}

function isSmaller({ spec }: PersistentVolumeClaim, size: string): boolean {
  const [has, wanted] = [spec?.resources?.requests?.["storage"], size].map(quantityBytes);
  return has !== undefined && wanted !== undefined && has < wanted;
}
