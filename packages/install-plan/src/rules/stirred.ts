import type { Trouble } from "../plan-memory.ts";
import { restlessRetryMs } from "../waiting-room.ts";
import type { Seen } from "../world/seen.ts";

/** Rights have just changed, and their lack was the trouble. */
export function isStirred({ kind }: Trouble, { restless = [] }: Pick<Seen, "restless">): boolean {
  return kind === "forbidden" && restless.includes("rights");
}

/** The same, and it was not tried a moment ago. */
export function isWorthAnotherTry(trouble: Trouble, seen: Pick<Seen, "restless" | "nowMs">): boolean {
  return isStirred(trouble, seen) && seen.nowMs - trouble.triedAtMs >= restlessRetryMs;
}
