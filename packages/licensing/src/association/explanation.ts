import type { LicenseAssociation } from "@quartermaster/api/licensing";
import {
  dayMs,
  effectiveExpiryMs,
  type LicenseCandidate,
  type LicenseParameters,
  type LicenseVerdict,
} from "@quartermaster/license-selection";
import { canonicalJson } from "@quartermaster/runtime";

import type { Binding } from "../binding/decide-binding.ts";
import { timeText } from "../expiry/license-state.ts";

type Explanation = NonNullable<NonNullable<LicenseAssociation["status"]>["explanation"]>;

/** Number of candidates that are listed. */
const most = 50;

/**
 * The candidates that a reader of the namespace may see. Licenses that are reserved for other namespaces are left out, also where another verdict comes
 * first, e.g. that they expired (security/116).
 */
function visible({ selection, candidates }: Binding): readonly Explained[] {
  return candidates.flatMap((candidate, at): readonly Explained[] =>
    candidate.scopeProblem === "NamespaceNotAllowed"
      ? []
      : [{ candidate, verdict: selection.verdicts[at] ?? "TieBreak" }],
  );
}

interface Explained {
  readonly candidate: LicenseCandidate;
  readonly verdict: LicenseVerdict;
}

/** How the license of a cluster was chosen; the time moves only when the rest does. */
export function explanation(
  binding: Binding,
  { before, nowMs, parameters }: ExplanationOptions,
): Explanation {
  const shown = visible(binding);
  const listed = shown.slice(0, most).map(({ candidate, verdict }) => ({
    uid: candidate.uid,
    source: candidate.source,
    type: candidate.type,
    expiry: timeText(effectiveExpiryMs(candidate)),
    verdict,
  }));
  const omitted = shown.length - listed.length;
  const output = {
    decision: binding.selection.reason,
    parameters: parameterTexts(parameters),
    candidates: listed,
    ...(omitted > 0 ? { omitted } : {}),
  };
  const { time, ...rest } = before ?? {};
  const isSame = time !== undefined && canonicalJson(rest) === canonicalJson(output);
  return { time: isSame ? time : timeText(nowMs), ...output };
}

export interface ExplanationOptions {
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
