/** Parameters of the choice of a license besides licenses and cluster. */
export interface LicenseParameters {
  /** A license is preferred once it has been valid for so long. */
  readonly startMarginMs: number;
  /** A license is preferred while it is valid for so long. */
  readonly expiryMarginMs: number;
  /** So long before its expiry a license makes way for one of a lower type. */
  readonly handoverLeadMs: number;
  /** A license of the same type has to last longer by more than this. */
  readonly hysteresisMs: number;
  /** So long a license that vanished is waited for. */
  readonly deletionGraceMs: number;
  /** Maximum time that a cluster without a running node keeps its place in the pool. */
  readonly reservationGraceMs: number;
  /** So many days before the expiry of a license there is an event. */
  readonly warnDays: readonly number[];
  /** Bounds of any sleep. Node fires timers above 24.8 days immediately. */
  readonly minSleepMs: number;
  readonly maxSleepMs: number;
  /** So long after its start a server may still call a license invalid: its clock may be behind. */
  readonly clockSkewMs: number;
  /** Servers below do not take licenses of type enterprise. */
  readonly enterpriseMinVersion: string;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** One day. */
export const dayMs: number = 24 * hourMs;

/** The parameters (default: as Elastic's hosted service hands licenses out). */
export const licenseParameters: LicenseParameters = {
  startMarginMs: dayMs,
  expiryMarginMs: 30 * dayMs,
  handoverLeadMs: dayMs,
  hysteresisMs: dayMs,
  deletionGraceMs: 15 * minuteMs,
  reservationGraceMs: hourMs,
  warnDays: [30, 14, 7, 1],
  minSleepMs: minuteMs,
  maxSleepMs: 10 * hourMs,
  clockSkewMs: 5 * minuteMs,
  enterpriseMinVersion: "7.8.1",
};

/** How long to sleep until a moment: never past `maxSleepMs`, never a busy loop. */
export function sleepUntil(
  wakeAtMs: number | undefined,
  nowMs: number,
  { minSleepMs, maxSleepMs }: LicenseParameters = licenseParameters,
): number {
  return wakeAtMs === undefined ? maxSleepMs : Math.min(maxSleepMs, Math.max(minSleepMs, wakeAtMs - nowMs));
}
