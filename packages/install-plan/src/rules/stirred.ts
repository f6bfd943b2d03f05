import type { WriteFailure } from "../plan-memory.ts";
import { restlessRetryMs } from "../wake-index.ts";
import type { Seen } from "../world/seen.ts";

/** Permissions have just changed, and their lack was the failure. */
export function isStirred({ kind }: WriteFailure, { restless = [] }: Pick<Seen, "restless">): boolean {
  return kind === "forbidden" && restless.includes("permissions");
}

/** The same, and it was not tried just now. */
export function isWorthAnotherTry(failure: WriteFailure, seen: Pick<Seen, "restless" | "nowMs">): boolean {
  return isStirred(failure, seen) && seen.nowMs - failure.triedAtMs >= restlessRetryMs;
}
