import { type Mutant, mutantsOf } from "./mutant.ts";

const suite = {
  topic: "operation",
  package: "search",
  level: "unit",
  tests: ["surplus-nodes", "restart"],
} as const;

/** Of nodes that are there although the spec no longer asks for them. */
export const surplusNodeMutants: readonly Mutant[] = mutantsOf(suite, [
  {
    name: "a pod without a place is restarted",
    find: "return isOutdated && hasPlace && pod?.isTerminating === false;",
    replace: "return isOutdated && pod?.isTerminating === false;",
  },
  {
    name: "a node that can go is restarted first",
    find: "const isGoing = !node.isWanted && removeNodes.answer(seen, now) !== undefined;",
    replace: "const isGoing = false;",
  },
  {
    name: "a node whose removal is refused is not restarted",
    find: "const isGoing = !node.isWanted && removeNodes.answer(seen, now) !== undefined;",
    replace: "const isGoing = !node.isWanted;",
  },
  {
    name: "a node that nobody asks for is waited for without end",
    find: "return !hasPlace || (!isWanted && isLate);",
    replace: "return !hasPlace;",
  },
  {
    name: "a node whose removal is refused is not waited for",
    find: "return !hasPlace || (!isWanted && isLate);",
    replace: "return !hasPlace || !isWanted;",
  },
  {
    name: "a declared node is given up",
    find: "return !hasPlace || (!isWanted && isLate);",
    replace: "return !hasPlace || isLate;",
  },
]);
