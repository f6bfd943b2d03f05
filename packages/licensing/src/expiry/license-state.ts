import { dayMs, type LicenseParameters } from "@quartermaster/license-selection";

/** How a licence stands by the clock. */
export type LicenseState = "Scheduled" | "Valid" | "ExpiringSoon" | "Expired";

/** A licence in time. */
export interface LicenseTimes {
  readonly state: LicenseState;
  /** So many days are left at most, of the days that are warned about; undefined before the first. */
  readonly warnedDays?: number;
  /** When this changes next; undefined once it has expired. */
  readonly nextMs?: number;
}

/** The state of a licence, and when it changes: absolute moments, so that nothing is rewritten by the minute. */
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
    ...(warnedDays === undefined ? {} : { warnedDays }),
    nextMs: Math.min(expiryMs, ...laterMs),
  };
}

/** A moment as status shows it. */
export function timeText(momentMs: number): string {
  return new Date(momentMs).toISOString().replace(/\.\d{3}Z$/, "Z");
}
