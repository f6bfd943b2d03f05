import { isValidNow, type Judged, type LicenseVerdict } from "./judge-candidate.ts";
import { effectiveExpiryMs, type LicenseCandidate, type RankedCandidates } from "./license-candidate.ts";
import { licenseTypeRank } from "./license-type.ts";

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

/** What losers are measured by. */
interface Standard {
  readonly rank: number;
  readonly endMs: number;
}
