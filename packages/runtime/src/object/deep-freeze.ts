/** Freezes a JSON value with everything in it, at any depth, and returns it. What is frozen already is taken as done. */
export function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const child of Object.values(next)) if (typeof child === "object") open.push(child);
  }
  return value;
}
