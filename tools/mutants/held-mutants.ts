import { type Mutant, mutantsOf } from "./mutant.ts";

const suite = { topic: "held", package: "search", level: "unit" } as const;

/** Of what becomes of an operation while the cluster is paused or its spec is nonsense. */
export const heldMutants: readonly Mutant[] = mutantsOf(
  { ...suite, tests: ["held-nodes-lane", "operated-node"] },
  [
    {
      name: "a held cluster has its operation frozen",
      find: "const open = seen.status.operation === undefined ? [] : [heldNodesLane];",
      replace: "const open: readonly SearchLane[] = [];",
    },
    {
      name: "a paused cluster goes on with its operation",
      find: "const lanesWhilePaused: readonly SearchLane[] = [heldNodesLane, certificatesLane, protectionLane];",
      replace:
        "const lanesWhilePaused: readonly SearchLane[] = [nodesLane, certificatesLane, protectionLane];",
    },
    {
      name: "a removal is withdrawn by a store that is behind",
      find: 'if (operation.step !== "Shrink") return answer;',
      replace: "if (operation.step !== undefined) return answer;",
    },
    {
      name: "a held restart does not wait for its pod",
      find: "isBack: isUp || !hasPlace(seen, operation) }",
      replace: "isBack: isUp || hasPlace(seen, operation) }",
    },
    {
      name: "a removal that was withdrawn is taken for done",
      find: "if (hasPlace(seen, operation)) return withdrawsRemoval(operation, seen);",
      replace: "",
    },
    {
      name: "a node that is away by our hand is reported as it flickers",
      find: 'away: operation?.step === "Await" ? operation.node : undefined,',
      replace: 'away: operation?.step === "Release" ? operation.node : undefined,',
    },
    {
      name: "health that gets worse is held back",
      find: "return healths.indexOf(now) < healths.indexOf(before) ? before : now;",
      replace: "return healths.indexOf(now) !== healths.indexOf(before) ? before : now;",
    },
  ],
);
