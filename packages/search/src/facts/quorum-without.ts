import type { DisruptionWorld } from "./disruption-world.ts";
import type { NodeFacts } from "./node-facts.ts";
import { quorumAfter, type QuorumOutcome } from "./quorum-after.ts";

/** What becomes of the quorum without a node, as far as the engine has told; unknown counts as lost. */
export function quorumWithout({ name }: NodeFacts, { nodes, engine }: DisruptionWorld): QuorumOutcome {
  if (!engine.coordination.isKnown) return "lost";
  return quorumAfter(name, {
    voters: engine.coordination.value.voters,
    managersUp: nodes.filter(({ isManager, isUp }) => isManager && isUp).map((each) => each.name),
    managers: nodes.filter(({ isManager }) => isManager).map((each) => each.name),
  });
}
