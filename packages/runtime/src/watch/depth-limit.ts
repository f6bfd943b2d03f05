/**
 * Levels that an object may have. Far beyond what anybody writes (a large CRD has about 60), far below where recursive code
 * overflows the stack (about 5,000); the API server itself stores 10,000.
 */
const depthLimit = 1_000;

/** Whether JSON text has enough brackets to be too deep at all: a cheap look that spares most objects the real count. */
export function mayBeDeeperThan(text: string, limit = depthLimit): boolean {
  if (text.length < 2 * limit) return false;
  let left = limit;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      left -= 1;
      if (left < 0) return true;
    }
  }
  return false;
}

/** Whether a value has more levels of objects and lists than the limit. Recursion ends there, so it is safe for any input. */
export function isDeeperThan(value: unknown, limit = depthLimit): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit === 0) return true;
  for (const child of Object.values(value)) if (isDeeperThan(child, limit - 1)) return true;
  return false;
}
