import type { EngineLicense, Fact } from "../engine/engine-facts.ts";
import type { ClusterStatus, Seen } from "../seen.ts";

type Rejection = NonNullable<NonNullable<ClusterStatus["license"]>["rejected"]>[number];

/** What the engine said last, to a sample or after an attempt. */
export function currentLicense({ engine, license: { attempt } }: Seen): Fact<EngineLicense> {
  const { license } = engine;
  if (attempt?.current === undefined) return license;
  if (license.isKnown && license.atMs >= attempt.monotonicMs) return license;
  return { isKnown: true, value: attempt.current, atMs: attempt.monotonicMs };
}

/** The licence that the engine runs under, as far as it was ever known. */
export interface RunningLicense {
  readonly uid: string;
  readonly type: string;
  readonly expiryMs: number | undefined;
  readonly isExpired: boolean;
}

/** From the engine, or, as long as it is not asked, from the status. */
export function runningLicense(seen: Seen, now: Date): RunningLicense | undefined {
  const current = currentLicense(seen);
  if (current.isKnown) {
    const { uid, type, expiryMs, status } = current.value;
    return { uid, type, expiryMs, isExpired: status === "expired" || isPast(expiryMs, now) };
  }
  const { uid, type, expiryTime, state } = seen.status.license ?? {};
  if (uid === undefined || type === undefined) return undefined;
  const expiryMs = expiryTime === undefined ? undefined : Date.parse(expiryTime);
  return { uid, type, expiryMs, isExpired: state === "Expired" || isPast(expiryMs, now) };
}

function isPast(expiryMs: number | undefined, now: Date): boolean {
  return expiryMs !== undefined && expiryMs <= now.getTime();
}

/** Refusals that are remembered, and the one that just happened. */
const mostRejections = 32;

/** Licences that the engine refused, the latest first. */
export function rejections({ status, license: { attempt } }: Seen): readonly Rejection[] {
  const before = status.license?.rejected ?? [];
  if (attempt?.outcome !== "rejected") return before;
  const { uid, digest, reason, message } = attempt;
  const others = before.filter((each) => each.uid !== uid);
  return [{ uid, digest, reason, message }, ...others].slice(0, mostRejections);
}
