import { networkPolicies, podDisruptionBudgets } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { decideLane } from "../../src/lane.ts";
import type { PresentObject } from "../../src/present-object.ts";
import { supportingObjectsLane } from "../../src/supporting-objects/supporting-objects-lane.ts";
import { aPool, aSearchCluster } from "../a-search-cluster.ts";
import { aSeen } from "../support/a-seen.ts";

function guard(kind: PresentObject["kind"], name: string): PresentObject {
  return { kind, name, uid: `uid-${name}`, resourceVersion: "7", isTerminating: false };
}

const guards = [
  guard(networkPolicies, "logs-nodes"),
  guard(podDisruptionBudgets, "logs-pdb"),
  guard(podDisruptionBudgets, "logs-nodes-pdb"),
];

describe("[search/SC-127] policy and budgets that are no longer asked for are deleted", () => {
  test.for<[string, Parameters<typeof aSearchCluster>[0], readonly string[]]>([
    ["a pool without a budget of its own", {}, ["logs-nodes-pdb"]],
    ["every pool has its own", { pools: [aPool({ pdb: { maxUnavailable: 1 } })] }, ["logs-pdb"]],
    [
      "no network policy",
      { networkPolicy: { isEnabled: false, from: [] } },
      ["logs-nodes", "logs-nodes-pdb"],
    ],
  ])("%s", ([, changes, want]) => {
    const { actions } = decideLane(
      supportingObjectsLane,
      aSeen({ cluster: aSearchCluster(changes), guards }),
      new Date(0),
    );
    const pruned = actions.flatMap((action) => (action.kind === "prune" ? [action.name] : []));
    expect(pruned).toEqual(want);
    const kinds = [networkPolicies.kind, podDisruptionBudgets.kind];
    const applied = actions.flatMap((action) =>
      action.kind === "apply" && kinds.includes(action.resource.kind) ? [action.object.metadata.name] : [],
    );
    expect(want.filter((name) => applied.includes(name))).toEqual([]);
  });
});
