import type { WriteFailure } from "../plan-memory.ts";
import { recheckMs } from "../wake-index.ts";
import type { Seen } from "../world/seen.ts";

/** Permissions have just changed, and their lack was the failure. */
export function permissionsJustChanged(
  { kind }: WriteFailure,
  { recentlyChanged = [] }: Pick<Seen, "recentlyChanged">,
): boolean {
  return kind === "forbidden" && recentlyChanged.includes("permissions");
}

/** The same, and it was not tried just now. */
export function isWorthAnotherTry(
  failure: WriteFailure,
  seen: Pick<Seen, "recentlyChanged" | "nowMs">,
): boolean {
  return permissionsJustChanged(failure, seen) && seen.nowMs - failure.triedAtMs >= recheckMs;
}
