import { dataTiers, type NodeFacts } from "../facts/node-facts.ts";
import { isDataPool, isManagerPool } from "../model/search-cluster.ts";

/** What the order of a roll depends on. */
export type RestartNode = Pick<
  NodeFacts,
  | "name"
  | "pool"
  | "ordinal"
  | "isOutdated"
  | "hasPlace"
  | "isUp"
  | "isElected"
  | "isManager"
  | "isData"
  | "tiers"
> & { readonly pod: { readonly isTerminating: boolean } | undefined };

/** A declared node as it is when all is well, for those who ask before there is a cluster. */
export function upNode({
  roles,
  ...node
}: Pick<NodeFacts, "name" | "pool" | "ordinal" | "isOutdated" | "isElected"> & {
  readonly roles: readonly string[];
}): RestartNode {
  return {
    ...node,
    hasPlace: true,
    isUp: true,
    pod: { isTerminating: false },
    isManager: isManagerPool({ roles }),
    isData: isDataPool({ roles }),
    tiers: dataTiers(roles),
  };
}

/**
 * Outdated pods in the order in which they restart: those that do not run anyway, then nodes without data, data nodes from the coldest
 * tier to the hottest, managers, and the elected one last. The highest ordinal first. A node that the spec no longer asks for is among
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
function isRestartDue({ isOutdated, hasPlace, pod }: RestartNode): boolean {
  return isOutdated && hasPlace && pod?.isTerminating === false;
}

const tiers = ["data_frozen", "data_cold", "data_warm"];

function rank(node: RestartNode): number {
  if (!node.isUp) return 0;
  if (node.isElected) return 9;
  if (node.isManager) return 8;
  if (!node.isData) return 1;
  const coldest = tiers.findIndex((tier) => node.tiers.includes(tier));
  return coldest < 0 ? 7 : 2 + coldest;
}
