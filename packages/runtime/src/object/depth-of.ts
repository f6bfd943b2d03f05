import { isRawNumber } from "./raw-number.ts";

/**
 * How many levels of objects and lists a value has; a plain value has none. Stops counting beyond `limit` and then returns
 * `limit + 1`, so that hostile input costs no more than it must.
 */
export function depthOf(value: unknown, limit: number): number {
  let depth = 0;
  for (let level = containersOf([value]); level.length > 0; level = containersOf(childrenOf(level))) {
    depth += 1;
    if (depth > limit) return depth;
  }
  return depth;
}

function childrenOf(containers: readonly object[]): readonly unknown[] {
  return containers.flatMap((container) => Object.values(container) as readonly unknown[]);
}

function containersOf(values: readonly unknown[]): readonly object[] {
  return values.filter(isContainer);
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null && !isRawNumber(value);
}
