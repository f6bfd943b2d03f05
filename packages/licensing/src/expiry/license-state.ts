import { dayMs, type LicenseParameters } from "@quartermaster/license-selection";
import type { Condition, ConditionUpdate, ReconcileEvent } from "@quartermaster/runtime";

import { licensingReasons as reasons } from "../reasons.ts";

/** How a license stands by the clock. */
export type LicenseState = "Scheduled" | "Valid" | "ExpiringSoon" | "Expired";

/** A license in time. */
export interface LicenseTimes {
  readonly state: LicenseState;
  /** So many days are left at most, of the days that are warned about; undefined before the first. */
  readonly warnedDays?: number | undefined;
  /** When this changes next; undefined once it has expired. */
  readonly nextMs?: number | undefined;
}

/** The state of a license, and when it changes: absolute moments, so that nothing is rewritten by the minute. */
export function licenseState(
  { startMs, expiryMs }: { readonly startMs: number; readonly expiryMs: number },
  nowMs: number,
  { warnDays }: LicenseParameters,
): LicenseTimes {
  if (nowMs >= expiryMs) return { state: "Expired" };
  if (nowMs < startMs) return { state: "Scheduled", nextMs: startMs };
  const ascending = warnDays.toSorted((one, other) => one - other);
  const warnedDays = ascending.find((days) => nowMs >= expiryMs - days * dayMs);
  const laterMs = ascending.map((days) => expiryMs - days * dayMs).filter((momentMs) => momentMs > nowMs);
  return {
    state: warnedDays === undefined ? "Valid" : "ExpiringSoon",
    warnedDays,
    nextMs: Math.min(expiryMs, ...laterMs),
  };
}

/** A moment as status shows it. */
export function timeText(momentMs: number): string {
  return new Date(momentMs).toISOString().replace(/\.\d{3}Z$/, "Z");
}

/** The condition Valid of a license by its state, or why it cannot be used. */
export function validCondition(state: string, message: string): ConditionUpdate {
  const isValid = state === "Valid" || state === "ExpiringSoon";
  if (isValid)
    return { type: "Valid", status: "True", reason: reasons.valid, message: "The license is valid." };
  if (state === "Scheduled")
    return {
      type: "Valid",
      status: "False",
      reason: reasons.scheduled,
      message: "The license has not begun.",
    };
  if (state === "Expired")
    return { type: "Valid", status: "False", reason: reasons.expired, message: "The license has expired." };
  return { type: "Valid", status: "False", reason: state, message };
}

export interface ExpiryReport {
  readonly condition: ConditionUpdate;
  /** Only when the license came nearer to its end than the status knows: also after a restart there is one event for each step. */
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
    return { type, status: "True", reason: reasons.expired, message: `The license expired at ${end}.` };
  if (warnedDays !== undefined)
    return {
      type,
      status: "True",
      reason: reasons.expiringSoon,
      message: `The license expires at ${end}, in less than ${String(warnedDays)} ${warnedDays === 1 ? "day" : "days"}.`,
    };
  return { type, status: "False", reason: reasons.valid, message: `The license expires at ${end}.` };
}
