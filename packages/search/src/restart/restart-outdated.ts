import { disruptionState } from "../facts/disruption-state.ts";
import { dataTiers, type NodeFacts } from "../facts/node-facts.ts";
import { quorumWithout } from "../facts/quorum-after.ts";
import { awaits, type LaneRule } from "../lane.ts";
import { isDataPool, isManagerPool } from "../model/search-cluster.ts";
import { declareOperation } from "../operation/operation.ts";
import { isUnknown, refusalText, restartRefusals } from "../operation/refusals.ts";
import { searchReasons } from "../reasons.ts";
import { canDrain } from "../removal/removal-precheck.ts";

/** Restarts one node whose pod is outdated: the first in order against which nothing speaks. */
export const restartOutdated: LaneRule = {
  name: "restartOutdated",
  decide: (seen, now) => {
    const state = disruptionState(seen);
    const candidates = restartOrder(state.nodes);
    const [first] = candidates;
    if (first === undefined) return undefined;
    const drains = (node: NodeFacts): boolean =>
      seen.cluster.drainsBeforeRestart && node.isMember && canDrain(node, { seen, state });
    const chosen = candidates.find(
      (node) => restartRefusals(node, state, { drains: drains(node) }).length === 0,
    );
    if (chosen?.pod !== undefined)
      return declareOperation(
        {
          type: "Restart",
          pool: chosen.pool,
          node: chosen.name,
          podUid: chosen.pod.uid,
          cause: "the declared configuration is newer than the pod",
          ...(drains(chosen) ? { drains: true } : {}),
          ...(quorumWithout(chosen, state) === "survivesIfMoved" ? { movesVote: true } : {}),
        },
        now,
      );
    const refusals = restartRefusals(first, state);
    return awaits(
      isUnknown(refusals) ? searchReasons.restarting : searchReasons.restartRefused,
      `${first.name} is not restarted yet. ${refusalText(refusals)}.`,
      { actor: isUnknown(refusals) ? "engine" : "user", retryAfterMs: 10_000 },
    );
  },
};

export type RestartNode = Pick<
  NodeFacts,
  | "name"
  | "pool"
  | "ordinal"
  | "isOutdated"
  | "hasSlot"
  | "isUp"
  | "isElected"
  | "isManager"
  | "isData"
  | "tiers"
> & { readonly pod: { readonly isTerminating: boolean } | undefined };

/** A declared node as it is when all is well, for callers before there is a cluster. */
export function upNode({
  roles,
  ...node
}: Pick<NodeFacts, "name" | "pool" | "ordinal" | "isOutdated" | "isElected"> & {
  readonly roles: readonly string[];
}): RestartNode {
  return {
    ...node,
    hasSlot: true,
    isUp: true,
    pod: { isTerminating: false },
    isManager: isManagerPool({ roles }),
    isData: isDataPool({ roles }),
    tiers: dataTiers(roles),
  };
}

/**
 * Outdated pods in the order in which they restart: those that do not run anyway, then nodes without data, data nodes from the coldest
 * tier to the hottest, managers, and the elected one last. The highest ordinal first. A node that the spec no longer requests is among
 * them: while its removal is refused it serves like any other.
 */
export function restartOrder<Node extends RestartNode>(nodes: readonly Node[]): readonly Node[] {
  return nodes
    .filter((node) => isRestartDue(node))
    .toSorted(
      (one, other) =>
        rank(one) - rank(other) || one.pool.localeCompare(other.pool) || other.ordinal - one.ordinal,
    );
}

/** Whether the pod has to go for the declared configuration. One without a place in its StatefulSet would not come back. */
function isRestartDue({ isOutdated, hasSlot, pod }: RestartNode): boolean {
  return isOutdated && hasSlot && pod?.isTerminating === false;
}

const coldTiers = [["data_frozen"], ["data_cold"], ["data_warm", "warm", "search"]];

function rank(node: RestartNode): number {
  if (!node.isUp) return 0;
  if (node.isElected) return 9;
  if (node.isManager) return 8;
  if (!node.isData) return 1;
  const coldest = coldTiers.findIndex((tiers) => tiers.some((tier) => node.tiers.includes(tier)));
  return coldest < 0 ? 7 : 2 + coldest;
}
