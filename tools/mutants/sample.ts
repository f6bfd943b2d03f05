import { createHash } from "node:crypto";

import type { Mutation } from "./mutation.ts";

/**
 * At most `size` mutations, as many of each operator as of the others where there are enough. The same seed and code give the same sample; a line
 * that moves stays in it.
 */
export function sampleOf(
  mutations: readonly Mutation[],
  { size, seed }: { readonly size: number; readonly seed: string },
): readonly Mutation[] {
  const groups = [...Map.groupBy(mutations, ({ operator }) => operator).values()].map((group) =>
    group
      .map((mutation) => ({ mutation, order: orderOf(mutation, seed) }))
      .toSorted((one, other) => one.order.localeCompare(other.order)),
  );
  const longest = Math.max(0, ...groups.map(({ length }) => length));
  const rounds = Array.from({ length: longest }, (_, at) => groups.flatMap((group) => group[at] ?? []));
  return rounds
    .flat()
    .slice(0, size)
    .map(({ mutation }) => mutation);
}

function orderOf({ title }: Mutation, seed: string): string {
  return createHash("sha256")
    .update(`${seed} ${title.replace(/:\d+ /, " ")}`)
    .digest("hex");
}
