import {
  dayMs,
  effectiveExpiryMs,
  type LicenseAssociation,
  type LicenseParameters,
} from "@quartermaster/api/licensing";
import { canonicalJson } from "@quartermaster/runtime";

import type { Binding } from "../binding/decide-binding.ts";
import { timeText } from "../expiry/license-state.ts";

type Explanation = NonNullable<NonNullable<LicenseAssociation["status"]>["explanation"]>;

/** So many candidates are listed. */
const most = 50;

/** How the licence of a cluster was chosen; the time moves only when the rest does. */
export function explanation(
  { selection, candidates }: Binding,
  { before, nowMs, parameters }: ExplanationParts,
): Explanation {
  const listed = candidates.slice(0, most).map((candidate, at) => ({
    uid: candidate.uid,
    source: candidate.source,
    type: candidate.type,
    expiry: timeText(effectiveExpiryMs(candidate)),
    verdict: selection.verdicts[at] ?? "TieBreak",
  }));
  const omitted = candidates.length - listed.length;
  const said = {
    decision: selection.reason,
    parameters: parameterTexts(parameters),
    candidates: listed,
    ...(omitted > 0 ? { omitted } : {}),
  };
  const { time, ...rest } = before ?? {};
  const isSame = time !== undefined && canonicalJson(rest) === canonicalJson(said);
  return { time: isSame ? time : timeText(nowMs), ...said };
}

/** What an explanation is compared with. */
export interface ExplanationParts {
  readonly before: Explanation | undefined;
  readonly nowMs: number;
  readonly parameters: LicenseParameters;
}

function parameterTexts({
  startMarginMs,
  expiryMarginMs,
  hysteresisMs,
  handoverLeadMs,
}: LicenseParameters): Readonly<Record<string, string>> {
  return {
    startMarginDays: String(startMarginMs / dayMs),
    expiryMarginDays: String(expiryMarginMs / dayMs),
    hysteresisHours: String((hysteresisMs / dayMs) * 24),
    handoverLeadHours: String((handoverLeadMs / dayMs) * 24),
  };
}
