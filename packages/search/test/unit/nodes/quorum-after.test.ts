import { expect, test } from "vitest";

import {
  type Electorate,
  majority,
  quorumAfter,
  type QuorumOutcome,
} from "../../../src/facts/quorum-after.ts";

function subsets<T>(items: readonly T[]): readonly (readonly T[])[] {
  return items.reduce<readonly (readonly T[])[]>(
    (all, item) => [...all, ...all.map((some) => [...some, item])],
    [[]],
  );
}

/** By counting: does any majority of the voters hold without the node? */
function bruteForce(node: string, voters: readonly string[], up: readonly string[]): boolean {
  return subsets(voters).some(
    (some) => 2 * some.length > voters.length && some.every((name) => up.includes(name) && name !== node),
  );
}

/** Every node, set of voters and set of managers that are up. */
function everyElectorate(
  count: number,
): readonly { readonly node: string; readonly electorate: Electorate }[] {
  const managers = Array.from({ length: count }, (_, at) => `m${String(at)}`);
  const voterSets = subsets(managers).filter(({ length }) => length > 0);
  return voterSets.flatMap((voters) =>
    subsets(managers).flatMap((managersUp) =>
      managers.map((node) => ({ node, electorate: { voters, managersUp, managers } })),
    ),
  );
}

/** What may be said of a node, by counting. */
function allowed(node: string, { voters, managersUp, managers }: Electorate): readonly QuorumOutcome[] {
  if (bruteForce(node, voters, managersUp)) return ["survives"];
  if (managers.length === 1) return ["onlyManager"];
  const canMove = bruteForce("nobody", voters, managersUp) && managersUp.some((name) => name !== node);
  return canMove ? ["survivesIfMoved", "lost"] : ["lost"];
}

test("[search/SC-43] one to five managers, every set of voters, every set of nodes up: equal to counting majorities", () => {
  const cases = [1, 2, 3, 4, 5].flatMap(everyElectorate);
  expect(cases).toHaveLength(6_114);
  const wrong = cases.filter(
    ({ node, electorate }) => !allowed(node, electorate).includes(quorumAfter(node, electorate)),
  );
  expect(wrong).toEqual([]);
});

test.each([
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 3],
  [5, 3],
])("a majority of %i is %i", (voters, want) => {
  expect(majority(voters)).toBe(want);
});

test("of two managers the one that votes restarts only after its vote was moved; a lone manager may always", () => {
  const two = { managers: ["a", "b"], managersUp: ["a", "b"], voters: ["a"] };
  expect(quorumAfter("a", two)).toBe("survivesIfMoved");
  expect(quorumAfter("b", two)).toBe("survives");
  expect(quorumAfter("a", { ...two, managersUp: ["a"] })).toBe("lost");
  expect(quorumAfter("a", { managers: ["a"], managersUp: ["a"], voters: ["a"] })).toBe("onlyManager");
});
