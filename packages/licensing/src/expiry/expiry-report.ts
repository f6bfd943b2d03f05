import type { Condition, ConditionUpdate, ReconcileEvent } from "@quartermaster/runtime";

import { licensingReasons as reasons } from "../reasons.ts";
import { type LicenseTimes, timeText } from "./license-state.ts";

/** What the clock has to say about a licence. */
export interface ExpiryReport {
  readonly condition: ConditionUpdate;
  /** Only when the licence came nearer to its end than the status knows: also after a restart there is one event for each step. */
  readonly events: readonly ReconcileEvent[];
}

/** The condition ExpiringSoon, and the event that is due. `before` are the conditions that the status has. */
export function expiryReport(
  { state, warnedDays }: LicenseTimes,
  expiryMs: number,
  before: readonly Pick<Condition, "type" | "message">[] = [],
): ExpiryReport {
  const condition = expiryCondition({ state, warnedDays }, expiryMs);
  const known = before.find(({ type }) => type === condition.type);
  if (known?.message === condition.message || condition.status === "False") return { condition, events: [] };
  const isExpired = state === "Expired";
  return {
    condition,
    events: [
      {
        type: "Warning",
        reason: isExpired ? reasons.licenseExpired : reasons.licenseExpiring,
        action: "WatchExpiry",
        note: condition.message,
      },
    ],
  };
}

function expiryCondition({ state, warnedDays }: LicenseTimes, expiryMs: number): ConditionUpdate {
  const type = "ExpiringSoon";
  const end = timeText(expiryMs);
  if (state === "Expired")
    return { type, status: "True", reason: reasons.expired, message: `The licence expired at ${end}.` };
  if (warnedDays !== undefined)
    return {
      type,
      status: "True",
      reason: reasons.expiringSoon,
      message: `The licence expires at ${end}, in less than ${String(warnedDays)} ${warnedDays === 1 ? "day" : "days"}.`,
    };
  return { type, status: "False", reason: reasons.valid, message: `The licence expires at ${end}.` };
}
