import { expect, test } from "vitest";

import { disruptionState } from "../../../src/facts/disruption-state.ts";
import { nodeNamed } from "../../../src/facts/node-facts.ts";
import type { NodeRole } from "../../../src/model/search-cluster.ts";
import { removalPrecheck } from "../../../src/removal/removal-precheck.ts";
import { aPool, aSearchCluster } from "../../a-search-cluster.ts";
import { aRoll, shardOn } from "../../support/a-roll.ts";

const gone = "logs-gone-2";

/** Whether the last of three nodes can go: of its pool one is declared, and another pool has one. */
function outcomeOf(tiers: readonly NodeRole[], others: readonly NodeRole[], copies: number): string {
  const cluster = aSearchCluster({
    pools: [
      aPool({ name: "managers", roles: ["cluster_manager"] }),
      aPool({ name: "gone", replicas: 1, roles: tiers }),
      aPool({ name: "others", replicas: 1, roles: others }),
    ],
  });
  const holders = [gone, "logs-gone-0", "logs-others-0"].slice(0, copies);
  const seen = aRoll({ cluster, slots: { gone: 3 }, shards: shardOn("orders", holders) });
  const state = disruptionState(seen);
  const node = nodeNamed(state.nodes, gone);
  if (node === undefined) throw new Error("no node");
  return removalPrecheck(node, { seen, state }).kind;
}

test.each<{ tiers: readonly NodeRole[]; others: readonly NodeRole[]; copies: number; want: string }>([
  { tiers: ["data_hot"], others: ["data_warm"], copies: 1, want: "passed" },
  { tiers: ["data_hot"], others: ["data_warm"], copies: 2, want: "refused" },
  { tiers: ["data_hot"], others: ["data_hot"], copies: 2, want: "passed" },
  // One tier in common is enough to take a copy.
  { tiers: ["data_hot"], others: ["data_hot", "data_warm"], copies: 2, want: "passed" },
  { tiers: ["data_hot", "data_warm"], others: ["data_warm", "data_cold"], copies: 2, want: "passed" },
  { tiers: ["data"], others: ["cluster_manager"], copies: 2, want: "refused" },
  { tiers: ["data"], others: ["data"], copies: 3, want: "refused" },
])(
  "$copies copies, a node of $tiers goes beside one of its pool and one of $others: $want",
  ({ tiers, others, copies, want }) => {
    expect(outcomeOf(tiers, others, copies)).toBe(want);
  },
);
