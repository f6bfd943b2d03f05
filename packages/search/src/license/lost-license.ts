import { licenseParameters } from "@quartermaster/license-selection";

import type { EngineLicense, Fact } from "../engine/engine-facts.ts";
import type { ClusterStatus, Seen } from "../seen.ts";

/** A license that the engine runs under although its ClusterLicense no longer exists. */
export interface LostLicense {
  readonly uid: string;
  /** The ClusterLicense that it came from. */
  readonly clusterLicense: string;
  readonly sinceMs: number;
}

/**
 * Name of the ClusterLicense that the running license was applied from. A trial, or a license that was uploaded by hand, has none,
 * and so cannot be lost. The status keeps it while the ClusterLicense is unreadable or deleted.
 */
export function appliedFrom(seen: Seen, now: Date): string | undefined {
  const running = runningLicense(seen, now);
  const { wanted } = seen.license;
  if (running === undefined) return undefined;
  if (wanted?.uid === running.uid) return wanted.name;
  const { uid, clusterLicense } = seen.status.license ?? {};
  return uid === running.uid ? clusterLicense : undefined;
}

/** The license that was lost, if one was. */
export function lostLicense(seen: Seen, now: Date): LostLicense | undefined {
  const running = runningLicense(seen, now);
  const clusterLicense = appliedFrom(seen, now);
  const isDeleted = seen.license.clusterLicense === undefined;
  if (!isDeleted || running === undefined || running.isExpired || clusterLicense === undefined)
    return undefined;
  // A moment in the future was written before the clock was set back.
  const knownMs = Date.parse(seen.status.license?.lostSince ?? "");
  const sinceMs = knownMs <= now.getTime() ? knownMs : now.getTime();
  return { uid: running.uid, clusterLicense, sinceMs };
}

/** Next step for a cluster whose author wants basic once its license is deleted. */
export type Reversion =
  /** Until then a deleted ClusterLicense may come back. */
  | { readonly kind: "wait"; readonly lost: LostLicense; readonly leftMs: number }
  /** The license is valid, and the author permits no lower type. */
  | { readonly kind: "blocked"; readonly lost: LostLicense }
  | { readonly kind: "startBasic"; readonly from: RevertedLicense };

/** The license that basic takes the place of: started only while the engine still runs under it. */
export interface RevertedLicense {
  readonly uid: string;
  /** Its ClusterLicense vanished: if it is back by now, nothing is started. */
  readonly isLost: boolean;
}

/** Decides about basic in place of a license that has ended or is lost. Pure; undefined where everything stays as it is. */
export function reversion(seen: Seen, now: Date): Reversion | undefined {
  const { revertsToBasic, desired } = seen.license;
  if (!revertsToBasic || desired === "basic" || desired === "trial") return undefined;
  const running = runningLicense(seen, now);
  if (running === undefined || running.type === "basic") return undefined;
  if (!running.isExpired) return desired === undefined ? afterLoss(seen, now) : undefined;
  return hasSuccessor(seen, running, now)
    ? undefined
    : { kind: "startBasic", from: { uid: running.uid, isLost: false } };
}

function afterLoss(seen: Seen, now: Date): Reversion | undefined {
  const lost = lostLicense(seen, now);
  if (lost === undefined) return undefined;
  if (!seen.license.allowsDowngrade) return { kind: "blocked", lost };
  const leftMs = lost.sinceMs + licenseParameters.deletionGraceMs - now.getTime();
  return leftMs > 0
    ? { kind: "wait", lost, leftMs }
    : { kind: "startBasic", from: { uid: lost.uid, isLost: true } };
}

/** Another license is there, or one that cannot be read yet: then nothing is given up. */
function hasSuccessor({ license }: Seen, running: RunningLicense, now: Date): boolean {
  const { wanted, problem } = license;
  if (problem !== undefined) return true;
  return wanted !== undefined && wanted.uid !== running.uid && wanted.expiryMs > now.getTime();
}

type Rejection = NonNullable<NonNullable<ClusterStatus["license"]>["rejected"]>[number];

export function currentLicense({ engine, license: { attempt } }: Seen): Fact<EngineLicense> {
  const { license } = engine;
  if (attempt?.current === undefined) return license;
  if (license.isKnown && license.atMs >= attempt.monotonicMs) return license;
  return { isKnown: true, value: attempt.current, atMs: attempt.monotonicMs };
}

/** The license that the engine runs under, as far as it was ever known. */
export interface RunningLicense {
  readonly uid: string;
  readonly type: string;
  readonly expiryMs: number | undefined;
  readonly isExpired: boolean;
}

/** From the engine, or, while it is not queried, from the status. */
export function runningLicense(seen: Seen, now: Date): RunningLicense | undefined {
  const current = currentLicense(seen);
  if (current.isKnown) {
    const { uid, type, expiryMs, status } = current.value;
    return { uid, type, expiryMs, isExpired: status === "expired" || isPast(expiryMs, now) };
  }
  const { uid, type, expiryTime, state } = seen.status.license ?? {};
  if (uid === undefined || type === undefined) return undefined;
  const expiryMs = expiryTime === undefined ? undefined : Date.parse(expiryTime);
  return { uid, type, expiryMs, isExpired: state === "Expired" || isPast(expiryMs, now) };
}

function isPast(expiryMs: number | undefined, now: Date): boolean {
  return expiryMs !== undefined && expiryMs <= now.getTime();
}

/** Refusals that are remembered, and the one that just happened. */
const mostRejections = 32;

/** Licenses that the engine refused, the latest first. */
export function rejections({ status, license: { attempt } }: Seen): readonly Rejection[] {
  const before = status.license?.rejected ?? [];
  if (attempt?.outcome !== "rejected") return before;
  const { uid, digest, reason, message } = attempt;
  const others = before.filter((each) => each.uid !== uid);
  return [{ uid, digest, reason, message }, ...others].slice(0, mostRejections);
}
