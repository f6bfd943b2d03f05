import { timestampOf } from "@quartermaster/runtime";

import type { VolumeFacts } from "../formation/volume-facts.ts";
import type { AutoscalingPolicy } from "../model/autoscaling-policy.ts";
import { quantityBytes } from "../model/quantity-units.ts";
import { type NodePool, podNames } from "../model/search-cluster.ts";
import type { SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import { type PoolRow, rowOf } from "./pool-facts.ts";
import { volumeGrowth, type VolumesFacts } from "./volume-growth.ts";

/** What the status says of the volumes of a pool, and whether they come before nodes. */
export interface VolumesAnswer {
  readonly row: Pick<PoolRow, "volumeSize" | "lastVolumeGrowthTime">;
  readonly isFirst: boolean;
  readonly limitedBy: readonly string[];
}

const mebibyte = 1024 ** 2;

/** Decides upon the volumes of a pool in mode Auto; undefined where they are none of our business. */
export function volumesAnswer(
  pool: NodePool,
  policy: AutoscalingPolicy,
  { seen, now }: { readonly seen: Seen; readonly now: Date },
): VolumesAnswer | undefined {
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

/** What the status asks for; what somebody wrote there beyond the limit is not believed. */
function decidedSize(pool: NodePool, seen: Pick<Seen, "status">): number {
  const decided = quantityBytes(rowOf(seen, pool)?.volumeSize) ?? 0;
  return Math.min(decided, pool.autoscaling?.storage?.maxBytes ?? 0);
}

/** It asks for enough, and has got what it asks for. */
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
