import type { LicenseAssociation } from "@quartermaster/api/licensing";
import type { ReconcileEvent } from "@quartermaster/runtime";

import { licensingReasons as reasons } from "../reasons.ts";
import type { AssociationState } from "./association-state.ts";

/** What happened since the status was written: the status remembers it, so that a restart repeats nothing. */
export function associationEvents(
  before: LicenseAssociation["status"],
  now: AssociationState,
  uid: string | undefined,
): readonly ReconcileEvent[] {
  const { state, reason, message: note } = now;
  const isSame = before?.state === state && before.reason === reason;
  if (state === "Applied" && !(before?.state === "Applied" && before.appliedUid === uid))
    return [appliedEvent(before, uid), ...warnings(now)];
  if (isSame) return [];
  if (state === "Superseded")
    return [{ type: "Warning", reason: reasons.licenseConflict, action: "ChooseLicense", note }];
  return warnings(now);
}

/** What somebody should look at. */
function warnings({ state, reason, message: note }: AssociationState): readonly ReconcileEvent[] {
  if (state === "Rejected") return [{ type: "Warning", reason, action: "ApplyLicense", note }];
  return reason === reasons.maxNodesExceeded ? [{ type: "Warning", reason, action: "CountNodes", note }] : [];
}

function appliedEvent(before: LicenseAssociation["status"], uid = ""): ReconcileEvent {
  const isSwitch = before?.appliedUid !== undefined && before.appliedUid !== uid;
  return {
    type: "Normal",
    reason: isSwitch ? reasons.licenseSwitched : reasons.licenseApplied,
    action: "ApplyLicense",
    note: `The engine runs under licence ${uid}.`,
  };
}
