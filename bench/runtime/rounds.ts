import { median } from "../table.ts";

/** Runs every contestant in each round, so that whatever else the machine does meets all of them; results by contestant. */
export async function inRounds<T>(
  rounds: number,
  contestants: Readonly<Record<string, () => Promise<T>>>,
): Promise<Readonly<Record<string, readonly T[]>>> {
  const results: Record<string, T[]> = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(contestants)) (results[name] ??= []).push(await run());
  }
  return results;
}

/** The median of one figure. */
export function medianOf<T>(results: readonly T[] | undefined, pick: (result: T) => number): number {
  return median((results ?? []).map(pick));
}

/** The median of the ratios within each round; steadier than a ratio of medians when the machine is shared. */
export function medianRatio<T>(
  above: readonly T[] | undefined,
  below: readonly T[] | undefined,
  pick: (result: T) => number,
): number {
  return median((above ?? []).map((result, round) => pick(result) / pickAt(below, round, pick)));
}

function pickAt<T>(results: readonly T[] | undefined, round: number, pick: (result: T) => number): number {
  const result = results?.[round];
  return result === undefined ? Number.NaN : pick(result);
}
