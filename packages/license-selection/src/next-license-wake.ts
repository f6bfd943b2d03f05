import { type JudgeContext, marginsOf } from "./judge-candidate.ts";
import { effectiveExpiryMs, type LicenseCandidate, type RankedCandidates } from "./license-candidate.ts";
import { dayMs } from "./license-parameters.ts";

export interface WakeRequest extends JudgeContext {
  readonly candidates: RankedCandidates;
  /** The license that the cluster runs under, or is to. */
  readonly chosen?: LicenseCandidate | undefined;
  /** The best one, although the cluster may keep another: what becomes of it decides whether a third is better. */
  readonly best?: LicenseCandidate | undefined;
}

/** The next moment at which the passing of time alone can change a choice, or a warning falls due; undefined if none is ahead. */
export function nextLicenseWake(request: WakeRequest): number | undefined {
  const { candidates, chosen, best, cluster, parameters, nowMs } = request;
  let next = Number.POSITIVE_INFINITY;
  const consider = (momentsMs: readonly number[]): void => {
    for (const momentMs of momentsMs) if (momentMs > nowMs && momentMs < next) next = momentMs;
  };
  if (chosen !== undefined) consider(endingMoments(chosen, request));
  if (best !== undefined && best !== chosen) consider(endingMoments(best, request));
  for (const candidate of candidates)
    if (!hasLongBegun(candidate, request)) consider(beginningMoments(candidate, request));
  const { current, lostSinceMs } = cluster;
  if (current?.expiryMs !== undefined)
    consider([current.expiryMs, current.expiryMs - parameters.handoverLeadMs]);
  if (lostSinceMs !== undefined) consider([lostSinceMs + parameters.deletionGraceMs]);
  return Number.isFinite(next) ? next : undefined;
}

/** Most have: they are not looked at any further. The margin of a short license may be longer than the usual one: a quarter of its life. */
function hasLongBegun({ startMs, parent }: LicenseCandidate, { nowMs, parameters }: JudgeContext): boolean {
  const { startMarginMs, expiryMarginMs } = parameters;
  const longestMs = Math.max(startMarginMs, (startMarginMs + expiryMarginMs) / 4);
  return startMs + longestMs <= nowMs && (parent === undefined || parent.startMs <= nowMs);
}

/** When a license can be used at all, and when it can be preferred. */
function beginningMoments(candidate: LicenseCandidate, { parameters }: JudgeContext): readonly number[] {
  const { startMs, parent } = candidate;
  const own = [startMs, startMs + marginsOf(candidate, parameters).startMs];
  return parent === undefined ? own : [...own, parent.startMs];
}

/** When a license is warned about, hands over and ends. */
function endingMoments(
  candidate: LicenseCandidate,
  { cluster, parameters }: JudgeContext,
): readonly number[] {
  const endMs = effectiveExpiryMs(candidate);
  return [
    endMs,
    // At the margin itself it is still preferred; one that looked then would sleep past the change.
    endMs - marginsOf(candidate, parameters).expiryMs + 1,
    endMs - parameters.handoverLeadMs,
    // From then on it is not applied anymore to a cluster whose license lasts longer.
    ...(candidate.uid === cluster.current?.uid ? [] : [endMs - 2 * parameters.handoverLeadMs]),
    ...parameters.warnDays.map((days) => endMs - days * dayMs),
  ];
}
