import { licenseParameters } from "@quartermaster/license-selection";

import type { Seen } from "../seen.ts";
import { type RunningLicense, runningLicense } from "./running-license.ts";

/** A licence that the engine runs under although its ClusterLicense is gone. */
export interface LostLicense {
  readonly uid: string;
  /** The ClusterLicense that it came from. */
  readonly clusterLicense: string;
  readonly sinceMs: number;
}

/**
 * Name of the ClusterLicense that the running licence was applied from. A trial, or a licence that somebody uploaded by hand, has none,
 * and so cannot be lost. Remembered by the status while the ClusterLicense is unreadable or gone.
 */
export function appliedFrom(seen: Seen, now: Date): string | undefined {
  const running = runningLicense(seen, now);
  const { wanted } = seen.license;
  if (running === undefined) return undefined;
  if (wanted?.uid === running.uid) return wanted.name;
  const { uid, clusterLicense } = seen.status.license ?? {};
  return uid === running.uid ? clusterLicense : undefined;
}

/** The licence that was lost, if one was. */
export function lostLicense(seen: Seen, now: Date): LostLicense | undefined {
  const running = runningLicense(seen, now);
  const clusterLicense = appliedFrom(seen, now);
  const isGone = seen.license.clusterLicense === undefined;
  if (!isGone || running === undefined || running.isExpired || clusterLicense === undefined) return undefined;
  // A moment in the future was written before the clock was set back.
  const knownMs = Date.parse(seen.status.license?.lostSince ?? "");
  const sinceMs = knownMs <= now.getTime() ? knownMs : now.getTime();
  return { uid: running.uid, clusterLicense, sinceMs };
}

/** What becomes of a cluster whose author wants basic once its licence is gone. */
export type Reversion =
  /** Until then a deleted ClusterLicense may come back. */
  | { readonly kind: "wait"; readonly lost: LostLicense; readonly leftMs: number }
  /** The licence is valid, and the author permits no lower type. */
  | { readonly kind: "blocked"; readonly lost: LostLicense }
  | { readonly kind: "startBasic"; readonly from: RevertedLicense };

/** The licence that basic takes the place of: started only while the engine still runs under it. */
export interface RevertedLicense {
  readonly uid: string;
  /** Its ClusterLicense vanished: if it is back by now, nothing is started. */
  readonly isLost: boolean;
}

/** Decides about basic in place of a licence that has ended or is lost. Pure; undefined where everything stays as it is. */
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

/** Another licence is there, or one that cannot be read yet: then nothing is given up. */
function hasSuccessor({ license }: Seen, running: RunningLicense, now: Date): boolean {
  const { wanted, fault } = license;
  if (fault !== undefined) return true;
  return wanted !== undefined && wanted.uid !== running.uid && wanted.expiryMs > now.getTime();
}
