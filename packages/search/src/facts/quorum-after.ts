import type { DisruptionState } from "./disruption-state.ts";
import type { NodeFacts } from "./node-facts.ts";

/** Who votes, and who could. */
export interface Electorate {
  /** Committed voters; an id instead of a name for one that is no member. */
  readonly voters: readonly string[];
  /** Managers that are up, voters or not. */
  readonly managersUp: readonly string[];
  /** All managers, up or not. */
  readonly managers: readonly string[];
}

/** Whether a manager is elected while a node is away. */
export type QuorumOutcome =
  /** Enough voters are left. */
  | "survives"
  /** Only if its vote is given to another manager first. */
  | "survivesIfMoved"
  /** It is the only manager: without it there is none, whatever is done. */
  | "onlyManager"
  | "lost";

/** How many of so many voters are a majority. */
export function majority(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

export function quorumAfter(node: string, { voters, managersUp, managers }: Electorate): QuorumOutcome {
  const rest = managersUp.filter((name) => name !== node);
  const votersUp = voters.filter((voter) => rest.includes(voter)).length;
  if (votersUp >= majority(voters.length)) return "survives";
  if (!managers.includes(node)) return "lost";
  if (managers.length === 1) return "onlyManager";
  // The vote can only be moved while a majority is up to agree to it, and to managers that are there.
  const hasQuorumNow = voters.filter((voter) => managersUp.includes(voter)).length >= majority(voters.length);
  const isVoter = voters.includes(node);
  return hasQuorumNow && isVoter && rest.length >= majority(managers.length - 1) ? "survivesIfMoved" : "lost";
}

/** The quorum without a node, by the engine's facts; unknown counts as lost. */
export function quorumWithout({ name }: NodeFacts, { nodes, engine }: DisruptionState): QuorumOutcome {
  if (!engine.coordination.isKnown) return "lost";
  return quorumAfter(name, {
    voters: engine.coordination.value.voters,
    managersUp: nodes.filter(({ isManager, isUp }) => isManager && isUp).map((each) => each.name),
    managers: nodes.filter(({ isManager }) => isManager).map((each) => each.name),
  });
}
