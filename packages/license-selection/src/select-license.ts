import {
  type CurrentLicense,
  finalVerdicts,
  isValidNow,
  judgeCandidate,
  type JudgeContext,
  type Judged,
  type LicensedCluster,
  type LicenseVerdict,
  versionLimits,
} from "./judge-candidate.ts";
import { effectiveExpiryMs, type LicenseCandidate, type RankedCandidates } from "./license-candidate.ts";
import { type LicenseParameters, licenseParameters } from "./license-parameters.ts";
import { licenseTypeRank } from "./license-type.ts";
import { nextLicenseWake } from "./next-license-wake.ts";

/** Input of the choice. */
export interface SelectionRequest {
  readonly nowMs: number;
  readonly cluster: LicensedCluster;
  readonly candidates: RankedCandidates;
  /** Default: `licenseParameters`. */
  readonly parameters?: LicenseParameters;
}

/** Why it was decided so. */
export type SelectionReason =
  | "Selected"
  | "Kept"
  | "AsDesired"
  | "NoLicenseAvailable"
  | "NoMatchingLicense"
  | "LicenseExpired"
  | "DowngradeBlocked"
  | "TLSRequired"
  | "DesiredLicenseInvalid"
  | "CurrentUnknown"
  | "SourceLost";

/** The license for a cluster. */
export type LicenseChoice =
  /** This license: apply it unless the engine has it. */
  | { readonly kind: "use"; readonly candidate: LicenseCandidate }
  /** Whatever it runs under. Nothing is written, nothing is taken away. */
  | { readonly kind: "keep" }
  | { readonly kind: "startTrial" }
  | { readonly kind: "startBasic" };

/** The whole decision, with a verdict for each candidate. */
export interface LicenseSelection {
  readonly choice: LicenseChoice;
  readonly reason: SelectionReason;
  /** In the order of the candidates. */
  readonly verdicts: readonly LicenseVerdict[];
  /** Several candidates are pinned: pins are ignored. */
  readonly isPinConflict: boolean;
  /** When the passing of time alone can change the decision; undefined if it cannot. */
  readonly wakeAtMs?: number | undefined;
}

/**
 * Chooses the license of a cluster. Pure and total: the same input has the same result in the license controller, in the search
 * domain and in `qm license explain`. Never leaves a valid license for an invalid one, nor for a lower type without a rule that
 * says so.
 *
 * @example
 * const { choice, reason } = selectLicense({ nowMs, cluster, candidates: rankCandidates(candidates) });
 */
export function selectLicense(request: SelectionRequest): LicenseSelection {
  const { nowMs, cluster, candidates, parameters = licenseParameters } = request;
  const context: JudgeContext = { nowMs, cluster, parameters, versions: versionLimits(cluster, parameters) };
  const judged = candidates.map((candidate) => judgeCandidate(candidate, context));
  const pins = pinnedUids(candidates, judged);
  const verdicts = restrictToPinned(candidates, judged, pins);
  const winnerAt = bestOf(verdicts);
  const currentAt = currentIndex(candidates, verdicts, cluster.current);
  const decided = decide({
    ...context,
    candidates,
    verdicts,
    winnerAt,
    currentAt,
    isPinned: pins.size === 1,
  });
  const chosen = decided.choice.kind === "use" ? decided.choice.candidate : candidates[currentAt];
  const best = candidates[winnerAt];
  const wakeAtMs = nextLicenseWake({ ...context, candidates, chosen, best });
  return {
    ...decided,
    verdicts: finalVerdicts(candidates, verdicts, { winnerAt, chosen, reason: decided.reason }),
    isPinConflict: pins.size > 1,
    wakeAtMs,
  };
}

/** Licenses that are valid and pinned: two copies of one license do not contradict each other. */
function pinnedUids(candidates: RankedCandidates, verdicts: readonly Judged[]): ReadonlySet<string> {
  const uids = new Set<string>();
  for (const [at, { isPinned, uid }] of candidates.entries())
    if (isPinned === true && isValidNow(verdicts[at])) uids.add(uid);
  return uids;
}

/** One valid pin leaves the others out. Several are ignored. */
function restrictToPinned(
  candidates: RankedCandidates,
  verdicts: readonly Judged[],
  pins: ReadonlySet<string>,
): readonly Judged[] {
  if (pins.size !== 1) return verdicts;
  const isOut = (at: number): boolean =>
    !pins.has(candidates[at]?.uid ?? "") || candidates[at]?.isPinned !== true;
  return verdicts.map((verdict, at) => (isValidNow(verdict) && isOut(at) ? "NotPinned" : verdict));
}

/** The first inside its margins, or else the first that is valid; -1 if there is none. */
function bestOf(verdicts: readonly Judged[]): number {
  const inside = verdicts.indexOf("usable");
  return inside >= 0 ? inside : verdicts.findIndex((verdict) => isValidNow(verdict));
}

/** The candidate that the engine runs under; a usable copy of it goes first. -1 if there is none. */
function currentIndex(
  candidates: RankedCandidates,
  verdicts: readonly Judged[],
  current: CurrentLicense | undefined,
): number {
  if (current?.uid === undefined) return -1;
  const isCurrent = ({ uid }: LicenseCandidate): boolean => uid === current.uid;
  const usable = candidates.findIndex((each, at) => isCurrent(each) && isValidNow(verdicts[at]));
  return usable >= 0 ? usable : candidates.findIndex(isCurrent);
}

interface Query extends JudgeContext {
  readonly candidates: RankedCandidates;
  readonly verdicts: readonly Judged[];
  readonly winnerAt: number;
  readonly currentAt: number;
  /** The winner is pinned, and nothing else is. */
  readonly isPinned: boolean;
}

type Decision = Pick<LicenseSelection, "choice" | "reason">;

const keep = (reason: SelectionReason): Decision => ({ choice: { kind: "keep" }, reason });

function decide(question: Query): Decision {
  const { cluster, candidates, winnerAt } = question;
  if (cluster.desired === "invalid") return keep("DesiredLicenseInvalid");
  if (cluster.current === undefined) return keep("CurrentUnknown");
  if (cluster.desired === "basic") return decideBasic(question, cluster.current);
  const winner = candidates[winnerAt];
  if (winner === undefined) return decideWithout(question, cluster.current);
  return decideWinner(question, winner, cluster.current);
}

const use = (candidate: LicenseCandidate, reason: SelectionReason): Decision => ({
  choice: { kind: "use", candidate },
  reason,
});

function decideWinner(question: Query, winner: LicenseCandidate, current: CurrentLicense): Decision {
  if (winner.uid === current.uid) return use(winner, "Kept");
  if (!isCurrentValid(question, current)) return use(winner, "Selected");
  const kept = keptCandidate(question);
  const gain = licenseTypeRank(winner.type) - licenseTypeRank(current.type);
  if (gain > 0 && endsFirst(question, winner, current)) return stay(kept, "Kept");
  if (gain < 0 && !mayDowngrade(question, current, winner)) return stay(kept, reasonToStay(question));
  if (gain !== 0 || kept === undefined) return use(winner, "Selected");
  return outlasts(winner, kept, question) ? use(winner, "Selected") : use(kept, "Kept");
}

function reasonToStay(question: Query): SelectionReason {
  return isRequested(question) ? "DowngradeBlocked" : "Kept";
}

function stay(kept: LicenseCandidate | undefined, reason: SelectionReason): Decision {
  return kept === undefined ? keep(reason) : use(kept, reason);
}

/** Whether a license of the same type is worth a change. */
function outlasts(
  winner: LicenseCandidate,
  kept: LicenseCandidate,
  { parameters, isPinned }: Query,
): boolean {
  return isPinned || effectiveExpiryMs(winner) - effectiveExpiryMs(kept) > parameters.hysteresisMs;
}

/**
 * Whether a license ends soon, and before the one that runs: it is not applied, unless it is pinned. Soon is twice the time at which a
 * license hands over to one of a lower type: with one boundary for both, a clock that swings around it would change the license back and forth.
 */
function endsFirst(question: Query, winner: LicenseCandidate, current: CurrentLicense): boolean {
  const { nowMs, parameters, isPinned } = question;
  if (isPinned) return false;
  const endMs = effectiveExpiryMs(winner);
  return endMs <= nowMs + 2 * parameters.handoverLeadMs && endMs < currentExpiryMs(question, current);
}

/** The current license, as far as its object could be used now. */
function keptCandidate({ candidates, verdicts, currentAt }: Query): LicenseCandidate | undefined {
  const verdict = verdicts[currentAt];
  return isValidNow(verdict) || verdict === "NotPinned" || verdict === "NotYetValid"
    ? candidates[currentAt]
    : undefined;
}

/** The lower type is requested, or nothing else is left. */
function isRequested({ cluster, currentAt, isPinned }: Query): boolean {
  return cluster.desired !== undefined || isPinned || currentAt < 0;
}

/** The guard: to a lower type only where the author permits it, or the current license is about to end. */
function mayDowngrade(question: Query, current: CurrentLicense, winner?: LicenseCandidate): boolean {
  const { cluster, nowMs, parameters } = question;
  if (nowMs >= currentExpiryMs(question, current) - parameters.handoverLeadMs && winner !== undefined)
    return true;
  return cluster.allowsDowngrade && (winner === undefined || isRequested(question));
}

/** Basic is only started where the label requests it. */
function decideBasic(question: Query, current: CurrentLicense): Decision {
  if (current.type === "basic") return keep("AsDesired");
  if (isCurrentValid(question, current) && !question.cluster.allowsDowngrade) return keep("DowngradeBlocked");
  return startBasic(question.cluster, "Selected");
}

/** Nodes without transport TLS would not start again under a basic license with security on. */
function startBasic({ transportTls, security }: LicensedCluster, reason: SelectionReason): Decision {
  return transportTls === true || security === false
    ? { choice: { kind: "startBasic" }, reason }
    : keep("TLSRequired");
}

/** No license can be used. */
function decideWithout(question: Query, current: CurrentLicense): Decision {
  const { cluster } = question;
  const isValid = isCurrentValid(question, current);
  if (cluster.desired === "trial") return decideTrial(question, current);
  if (cluster.desired !== undefined && isValid) return keep("NoMatchingLicense");
  if (cluster.onLoss === "RevertToBasic" && isLost(question, current, isValid))
    return startBasic(cluster, isValid ? "SourceLost" : "LicenseExpired");
  if (!isValid && hasEnded(question, current)) return keep("LicenseExpired");
  return keep(cluster.desired === undefined ? "NoLicenseAvailable" : "NoMatchingLicense");
}

function decideTrial(question: Query, current: CurrentLicense): Decision {
  if (!isCurrentValid(question, current) || current.type === "basic")
    return current.type === "trial"
      ? keep("LicenseExpired")
      : { choice: { kind: "startTrial" }, reason: "Selected" };
  if (current.type === "trial") return keep("AsDesired");
  return question.cluster.allowsDowngrade
    ? { choice: { kind: "startTrial" }, reason: "Selected" }
    : keep("DowngradeBlocked");
}

/** Its license has ended, or its object was deleted longer ago than the grace period. */
function isLost(question: Query, current: CurrentLicense, isValid: boolean): boolean {
  const { cluster, nowMs, parameters, currentAt } = question;
  if (current.type === "basic" || current.type === "missing") return false;
  if (!isValid) return true;
  const isDeleted = currentAt < 0 && cluster.lostSinceMs !== undefined;
  return (
    isDeleted &&
    nowMs >= (cluster.lostSinceMs ?? nowMs) + parameters.deletionGraceMs &&
    mayDowngrade(question, current)
  );
}

/** Valid as far as the engine and the dates go. That it began is the engine's word: our clock may have been set back. */
function isCurrentValid(question: Query, current: CurrentLicense): boolean {
  const isMissing = current.type === "missing" || current.uid === undefined;
  return !isMissing && current.isActive && question.nowMs < currentExpiryMs(question, current);
}

function hasEnded({ nowMs }: Query, { type, isActive, expiryMs }: CurrentLicense): boolean {
  return type !== "missing" && (!isActive || (expiryMs !== undefined && nowMs >= expiryMs));
}

/** When the current license ends: by the engine, or earlier by the license around it. */
function currentExpiryMs({ candidates, currentAt }: Query, { expiryMs }: CurrentLicense): number {
  const candidate = candidates[currentAt];
  const known = expiryMs ?? Number.POSITIVE_INFINITY;
  return candidate === undefined ? known : Math.min(known, effectiveExpiryMs(candidate));
}
