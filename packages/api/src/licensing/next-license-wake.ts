import { type JudgeContext, marginsOf } from "./judge-candidate.ts";
import { effectiveExpiryMs, type LicenseCandidate, type RankedCandidates } from "./license-candidate.ts";
import { dayMs } from "./license-parameters.ts";

/** What a wake-up depends on. */
export interface WakeRequest extends JudgeContext {
  readonly candidates: RankedCandidates;
  /** The licence that the cluster runs under, or is to. */
  readonly chosen?: LicenseCandidate;
}

/** The next moment at which the passing of time alone can change a choice, or a warning falls due; undefined if none is ahead. */
export function nextLicenseWake(request: WakeRequest): number | undefined {
  const { candidates, chosen, cluster, parameters, nowMs } = request;
  let next = Number.POSITIVE_INFINITY;
  const consider = (momentsMs: readonly number[]): void => {
    for (const momentMs of momentsMs) if (momentMs > nowMs && momentMs < next) next = momentMs;
  };
  if (chosen !== undefined) consider(endingMoments(chosen, request));
  for (const candidate of candidates)
    if (!hasLongBegun(candidate, request)) consider(beginningMoments(candidate, request));
  const { current, lostSinceMs } = cluster;
  if (current?.expiryMs !== undefined)
    consider([current.expiryMs, current.expiryMs - parameters.handoverLeadMs]);
  if (lostSinceMs !== undefined) consider([lostSinceMs + parameters.deletionGraceMs]);
  return Number.isFinite(next) ? next : undefined;
}

/** Most have: they are not looked at any further. */
function hasLongBegun({ startMs, parent }: LicenseCandidate, { nowMs, parameters }: JudgeContext): boolean {
  return startMs + parameters.startMarginMs <= nowMs && (parent === undefined || parent.startMs <= nowMs);
}

/** When a licence can be used at all, and when it can be preferred. */
function beginningMoments(candidate: LicenseCandidate, { parameters }: JudgeContext): readonly number[] {
  const { startMs, parent } = candidate;
  const own = [startMs, startMs + marginsOf(candidate, parameters).startMs];
  return parent === undefined ? own : [...own, parent.startMs];
}

/** When a licence is warned about, hands over and ends. */
function endingMoments(candidate: LicenseCandidate, { parameters }: JudgeContext): readonly number[] {
  const endMs = effectiveExpiryMs(candidate);
  return [
    endMs,
    endMs - marginsOf(candidate, parameters).expiryMs,
    endMs - parameters.handoverLeadMs,
    ...parameters.warnDays.map((days) => endMs - days * dayMs),
  ];
}
