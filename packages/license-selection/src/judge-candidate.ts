import { compareDottedVersions } from "@quartermaster/runtime/versions";

import {
  effectiveExpiryMs,
  type LicenseCandidate,
  type LicenseProblem,
  type RankedCandidates,
} from "./license-candidate.ts";
import type { LicenseParameters } from "./license-parameters.ts";
import { type DesiredLicense, licenseTypeRank } from "./license-type.ts";

/** Why a license is not used, or that it is. The first reason that applies. */
export type LicenseVerdict =
  | LicenseProblem
  | "ParentExpired"
  | "ParentNotYetValid"
  | "WrongNamespace"
  | "NamespaceNotAllowed"
  | "ClusterNotRunning"
  | "TypeMismatch"
  | "VersionUnsupported"
  | "TLSRequired"
  | "FIPSRequired"
  | "Expired"
  | "NotYetValid"
  | "RejectedByCluster"
  | "CapacityExceeded"
  | "NotPinned"
  | "StartMargin"
  | "ExpiryMargin"
  | "LowerType"
  | "ShorterValidity"
  | "TieBreak"
  | "Hysteresis"
  | "DowngradeBlocked"
  | "Selected"
  | "Kept";

/** The license that the engine runs under. */
export interface CurrentLicense {
  /** Undefined where there is none. */
  readonly uid?: string;
  /** As the engine says it; `missing` where there is none. */
  readonly type: string;
  /** Undefined for a license that never ends. */
  readonly expiryMs?: number;
  /** False if the engine itself calls it expired or invalid. */
  readonly isActive: boolean;
}

/** Facts about a cluster. */
export interface LicensedCluster {
  /** From its label: only this type; `invalid` for a word that we do not know. */
  readonly desired?: DesiredLicense | "invalid" | undefined;
  readonly allowsDowngrade: boolean;
  /** Behavior once its license is deleted or expired. */
  readonly onLoss: "Keep" | "RevertToBasic";
  /** Oldest version among its nodes; undefined while unknown. */
  readonly minVersion?: string | undefined;
  readonly transportTls?: boolean | undefined;
  readonly security?: boolean | undefined;
  readonly fips?: boolean | undefined;
  /** Undefined while unknown: then nothing is changed. */
  readonly current?: CurrentLicense | undefined;
  /** Licenses that the engine refused. */
  readonly rejectedUids: ReadonlySet<string>;
  /** Since when the license that it runs under has no object any more. */
  readonly lostSinceMs?: number;
}

/** Everything that a verdict about one candidate depends on. */
export interface JudgeContext {
  readonly nowMs: number;
  readonly cluster: LicensedCluster;
  readonly parameters: LicenseParameters;
  readonly versions: VersionLimits;
}

/** Limits of the oldest node of a cluster; none while its version is unknown. */
export interface VersionLimits {
  readonly newestFormat: number;
  readonly takesEnterprise: boolean;
}

/** Compared once for a cluster, not for each of its candidates. */
export function versionLimits(
  { minVersion }: LicensedCluster,
  { enterpriseMinVersion }: LicenseParameters,
): VersionLimits {
  if (minVersion === undefined) return { newestFormat: Number.POSITIVE_INFINITY, takesEnterprise: true };
  return {
    newestFormat: newestFormat(minVersion),
    takesEnterprise: compareDottedVersions(minVersion, enterpriseMinVersion) >= 0,
  };
}

/** A verdict before the choice. */
export type Judged = LicenseVerdict | "usable";

/** Whether a candidate is valid, if perhaps inside one of its margins. */
export function isValidNow(verdict: Judged | undefined): boolean {
  return verdict === "usable" || verdict === "StartMargin" || verdict === "ExpiryMargin";
}

/** Whether a candidate is `usable`, usable only if there is nothing better (its margin), or why not. */
export function judgeCandidate(candidate: LicenseCandidate, context: JudgeContext): Judged {
  return (
    candidate.problem ??
    parentProblem(candidate, context) ??
    candidate.scopeProblem ??
    engineFault(candidate, context) ??
    timeProblem(candidate, context) ??
    locationProblem(candidate, context.cluster) ??
    marginProblem(candidate, context) ??
    "usable"
  );
}

/** The engine runs under it: that it began is the engine's word, and our clock may have been set back since. */
function hasBegun({ uid }: LicenseCandidate, { cluster: { current } }: JudgeContext): boolean {
  return current?.uid === uid && current.isActive && current.type !== "missing";
}

function parentProblem(candidate: LicenseCandidate, context: JudgeContext): LicenseVerdict | undefined {
  const { parent } = candidate;
  const { nowMs } = context;
  if (parent === undefined) return undefined;
  if (nowMs >= parent.expiryMs) return "ParentExpired";
  return nowMs < parent.startMs && !hasBegun(candidate, context) ? "ParentNotYetValid" : undefined;
}

const standardRank = licenseTypeRank("standard");
const platinumRank = licenseTypeRank("platinum");

/** A license that the engine would refuse, or break on. */
function engineFault(candidate: LicenseCandidate, context: JudgeContext): LicenseVerdict | undefined {
  const { desired } = context.cluster;
  if (desired !== undefined && desired !== candidate.type) return "TypeMismatch";
  return versionProblem(candidate, context) ?? securityProblem(candidate, context.cluster);
}

function versionProblem(
  { type, formatVersion = 0 }: LicenseCandidate,
  { versions }: JudgeContext,
): LicenseVerdict | undefined {
  const isTooOld =
    (type === "enterprise" && !versions.takesEnterprise) || formatVersion > versions.newestFormat;
  return isTooOld ? "VersionUnsupported" : undefined;
}

function securityProblem(
  { type }: LicenseCandidate,
  { transportTls, security, fips }: LicensedCluster,
): LicenseVerdict | undefined {
  // Evaluated for every cluster and license: looked up only where it matters.
  if (transportTls !== false && fips !== true) return undefined;
  const rank = licenseTypeRank(type);
  if (rank < standardRank) return undefined;
  if (transportTls === false && security !== false) return "TLSRequired";
  return fips === true && rank < platinumRank ? "FIPSRequired" : undefined;
}

function timeProblem(candidate: LicenseCandidate, context: JudgeContext): LicenseVerdict | undefined {
  if (context.nowMs >= effectiveExpiryMs(candidate)) return "Expired";
  return context.nowMs < candidate.startMs && !hasBegun(candidate, context) ? "NotYetValid" : undefined;
}

function locationProblem(
  { uid, hasCapacity }: LicenseCandidate,
  { rejectedUids, current }: LicensedCluster,
): LicenseVerdict | undefined {
  if (rejectedUids.has(uid) && current?.uid !== uid) return "RejectedByCluster";
  return hasCapacity === false && current?.uid !== uid ? "CapacityExceeded" : undefined;
}

function marginProblem(candidate: LicenseCandidate, context: JudgeContext): LicenseVerdict | undefined {
  const { nowMs, parameters } = context;
  const { startMs, expiryMs } = marginsOf(candidate, parameters);
  if (nowMs < candidate.startMs + startMs && !hasBegun(candidate, context)) return "StartMargin";
  return effectiveExpiryMs(candidate) < nowMs + expiryMs ? "ExpiryMargin" : undefined;
}

/** The margins of a license: a quarter of its life each where it is too short for the usual ones. */
export function marginsOf(
  candidate: LicenseCandidate,
  { startMarginMs, expiryMarginMs }: LicenseParameters,
): { readonly startMs: number; readonly expiryMs: number } {
  const lifeMs = effectiveExpiryMs(candidate) - candidate.startMs;
  if (lifeMs >= startMarginMs + expiryMarginMs) return { startMs: startMarginMs, expiryMs: expiryMarginMs };
  const quarterMs = Math.max(0, Math.floor(lifeMs / 4));
  return { startMs: quarterMs, expiryMs: quarterMs };
}

/** The newest license format that a server of a version reads. */
function newestFormat(version: string): number {
  if (compareDottedVersions(version, "6.4.0") < 0) return 3;
  return compareDottedVersions(version, "7.6.0") < 0 ? 4 : 5;
}

/** How it was decided. */
export interface Decided {
  readonly winnerAt: number;
  readonly chosen: LicenseCandidate | undefined;
  readonly reason: string;
}

/** Turns what was usable into why it was not used: a verdict for each candidate, in their order. */
export function finalVerdicts(
  candidates: RankedCandidates,
  verdicts: readonly Judged[],
  { winnerAt, chosen, reason }: Decided,
): readonly LicenseVerdict[] {
  const standard = chosen && { rank: licenseTypeRank(chosen.type), endMs: effectiveExpiryMs(chosen) };
  return verdicts.map((verdict, at) => {
    const candidate = candidates[at];
    if (candidate === chosen && (isValidNow(verdict) || verdict === "NotPinned"))
      return reason === "Selected" ? "Selected" : "Kept";
    if (verdict !== "usable") return verdict;
    if (at === winnerAt && reason === "DowngradeBlocked") return "DowngradeBlocked";
    return candidate === undefined || standard === undefined ? "TieBreak" : loserVerdict(candidate, standard);
  });
}

function loserVerdict(loser: LicenseCandidate, { rank, endMs }: Standard): LicenseVerdict {
  if (licenseTypeRank(loser.type) < rank) return "LowerType";
  const gainedMs = effectiveExpiryMs(loser) - endMs;
  if (gainedMs > 0) return "Hysteresis";
  return gainedMs < 0 ? "ShorterValidity" : "TieBreak";
}

/** The license that rejected candidates are compared with. */
interface Standard {
  readonly rank: number;
  readonly endMs: number;
}
