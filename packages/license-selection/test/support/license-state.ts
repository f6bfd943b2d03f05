import type { LicenseType } from "@quartermaster/api/licensing";

import {
  dayMs,
  type LicenseCandidate,
  type LicensedCluster,
  type LicenseSelection,
  type LicenseVerdict,
  rankCandidates,
  selectLicense,
} from "../../src/index.ts";

/** The moment at which all cases play. */
export const nowMs: number = Date.UTC(2025, 5, 1);

/** A valid EnterpriseLicense with 400 days left. */
export const parent = { startMs: nowMs - 100 * dayMs, expiryMs: nowMs + 400 * dayMs };

/** A license that began 100 days ago and has so many days left; its uid says both. */
export function license(
  type: LicenseType,
  daysLeft: number,
  more: Partial<LicenseCandidate> = {},
): LicenseCandidate {
  return {
    uid: `${type}-${String(daysLeft)}`,
    source: "EnterpriseLicense licenses/pool",
    type,
    startMs: nowMs - 100 * dayMs,
    expiryMs: nowMs + daysLeft * dayMs,
    parent,
    ...more,
  };
}

/** A cluster of version 8 with TLS that has no license yet. */
export const newCluster: LicensedCluster = {
  allowsDowngrade: false,
  onLoss: "Keep",
  minVersion: "8.19.0",
  transportTls: true,
  security: true,
  fips: false,
  current: { type: "missing", isActive: false },
  rejectedUids: new Set(),
};

/** The same cluster under a license. */
export function under(candidate: LicenseCandidate, more: Partial<LicensedCluster> = {}): LicensedCluster {
  const { uid, type, expiryMs } = candidate;
  return { ...newCluster, current: { uid, type, expiryMs, isActive: true }, ...more };
}

export interface Outcome extends Pick<LicenseSelection, "reason" | "isPinConflict"> {
  /** Uid of the license to use, or `keep`, `startTrial`, `startBasic`. */
  readonly choice: string;
  readonly verdicts: Readonly<Record<string, LicenseVerdict>>;
  readonly wakeAtMs: number | undefined;
}

/** Decides, at `nowMs` unless another moment is given. */
export function decided(
  candidates: readonly LicenseCandidate[],
  cluster: LicensedCluster = newCluster,
  atMs: number = nowMs,
): Outcome {
  const ranked = rankCandidates(candidates);
  const { choice, reason, verdicts, isPinConflict, wakeAtMs } = selectLicense({
    nowMs: atMs,
    cluster,
    candidates: ranked,
  });
  return {
    choice: choice.kind === "use" ? choice.candidate.uid : choice.kind,
    reason,
    isPinConflict,
    verdicts: Object.fromEntries(ranked.map(({ uid }, at) => [uid, verdicts[at] ?? "Malformed"])),
    wakeAtMs,
  };
}
