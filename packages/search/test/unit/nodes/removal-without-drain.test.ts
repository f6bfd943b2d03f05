import { describe, expect, test } from "vitest";

import { decideLane } from "../../../src/lane.ts";
import { nodesLane } from "../../../src/nodes/nodes-lane.ts";
import type { Operation } from "../../../src/operation/operation.ts";
import type { PodFacts, Seen } from "../../../src/seen.ts";
import { aPool, aSearchCluster } from "../../a-search-cluster.ts";
import { aRoll, type RollChanges, shardOn } from "../../support/a-roll.ts";
import { aVolume } from "../../support/a-seen.ts";

const now = new Date("2026-11-17T10:00:00Z");
const leaving = "logs-data-2";
const orders = shardOn("orders", ["logs-data-0", "logs-data-1"]);

/** Two data nodes are declared and three are there; the last one has these disks. */
function seenWith(
  disks: "emptyDir" | "marked" | "unmarked",
  changes: RollChanges,
  pod: Partial<PodFacts> = {},
): Seen {
  const storage = disks === "emptyDir" ? { storage: { kind: "emptyDir" as const, source: {} } } : {};
  const cluster = aSearchCluster({
    pools: [
      aPool({ name: "managers", replicas: 3, roles: ["cluster_manager"] }),
      aPool({ name: "data", replicas: 2, roles: ["data"], ...storage }),
    ],
  });
  const seen = aRoll({ cluster, slots: { data: 3 }, shards: orders, ...changes });
  return {
    ...seen,
    pods: seen.pods.map((each) => (each.name === leaving ? { ...each, ...pod } : each)),
    volumes: seen.volumes
      .filter(({ node }) => disks !== "emptyDir" || !node.includes("data"))
      .map((volume) => (volume.node === leaving && disks === "unmarked" ? aVolume(leaving) : volume)),
  };
}

const down: RollChanges = { down: [leaving] };

describe("whether a data node that goes is emptied first", () => {
  test.for<[string, Seen, boolean]>([
    ["a member on an emptyDir", seenWith("emptyDir", {}), true],
    ["on an emptyDir, down: its disk may have what it had", seenWith("emptyDir", down), true],
    [
      "on an emptyDir, never started: there is no disk",
      seenWith("emptyDir", down, { isPending: true }),
      false,
    ],
    ["down, its volume is of this cluster", seenWith("marked", down), true],
    ["down, its volume was never joined with", seenWith("unmarked", down), false],
  ])("%s", ([, seen, drains]) => {
    const { operation } = decideLane(nodesLane, seen, now).intent ?? {};
    expect(operation).toMatchObject({ type: "Remove", node: leaving });
    expect(operation?.drains === true).toBe(drains);
  });
});

const removal: Operation = {
  id: "remove-1",
  type: "Remove",
  pool: "data",
  node: leaving,
  podUid: `uid-${leaving}`,
  cause: "test",
  step: "Prepare",
  startedAt: "2026-11-17T09:59:00Z",
};

describe("a removal that was declared without a drain", () => {
  test.for<[string, RollChanges, boolean, readonly string[]]>([
    ["continues while the node is away", down, true, []],
    ["is withdrawn once the node has joined", {}, true, ["verifyReleased"]],
    ["continues where the author wants no drains", {}, false, []],
  ])("%s", ([, changes, drainsBeforeRemoval, want]) => {
    const seen = seenWith("unmarked", { ...changes, status: { operation: removal } });
    const cluster = { ...seen.cluster, drainsBeforeRemoval };
    const { actions } = decideLane(nodesLane, { ...seen, cluster }, now);
    expect(actions.map((action) => action.kind)).toEqual(want);
  });
});
