import { describe, expect, test } from "vitest";

import type { EngineShard } from "../../../src/engine/engine-facts.ts";
import { decideLane, type LaneDecision } from "../../../src/lane.ts";
import { nodesLane } from "../../../src/nodes/nodes-lane.ts";
import type { Operation } from "../../../src/operation/operation.ts";
import type { Seen } from "../../../src/seen.ts";
import { aRoll, managersAndData, type RollChanges, shardOn } from "../../support/a-roll.ts";

const now = new Date("2026-11-17T10:00:00Z");

function decide(seen: Seen): LaneDecision {
  return decideLane(nodesLane, seen, now);
}

/** Two data nodes are declared, three are there. */
const three: RollChanges = { slots: { data: 3 } };

/** Three copies need three nodes. */
function copiesOn(count: number): readonly EngineShard[] {
  return shardOn("orders", ["logs-data-0", "logs-data-1", "logs-data-2"].slice(0, count));
}

describe("a node whose removal is refused serves on", () => {
  const refused: RollChanges = { ...three, shards: copiesOn(3), outdated: ["logs-data-2"] };
  const restart: Operation = {
    id: "restart-1",
    type: "Restart",
    pool: "data",
    node: "logs-data-2",
    podUid: "uid-logs-data-2",
    cause: "test",
    step: "Prepare",
    startedAt: "2026-11-17T09:50:00Z",
  };
  const newPod = (changes: RollChanges): RollChanges => ({
    ...changes,
    seen: {
      pods: aRoll(changes).pods.map((pod) => (pod.name === "logs-data-2" ? { ...pod, uid: "new" } : pod)),
    },
  });
  const during = (changes: RollChanges, more: Partial<Operation> = {}): LaneDecision =>
    decide(aRoll({ ...changes, status: { operation: { ...restart, ...more } } }));

  test("it is restarted for another configuration like any other", () => {
    expect(decide(aRoll(refused)).intent?.operation).toMatchObject({
      type: "Restart",
      node: "logs-data-2",
    });
    expect(during(refused).actions).toEqual([{ kind: "freezeAllocation", operation: "restart-1" }]);
  });

  test("but not once it can go", () => {
    const { intent } = during({ ...refused, shards: copiesOn(2) });
    expect(intent?.operation).toMatchObject({ type: "Remove", node: "logs-data-2" });
  });

  test("nor where its StatefulSet has no place for it, or is not declared any more", () => {
    const noSlot = aRoll(refused);
    const sets = new Map(noSlot.statefulSets);
    const data = sets.get("data");
    if (data !== undefined) sets.set("data", { ...data, spec: { ...data.spec, replicas: 2 } });
    expect(decide({ ...noSlot, statefulSets: sets }).rule).toBe("complete");
    const dropped = aRoll({ ...refused, shards: [] });
    const { cluster } = dropped;
    const without = { ...cluster, pools: cluster.pools.filter(({ name }) => name !== "data") };
    expect(decide({ ...dropped, cluster: without }).intent?.operation?.type).toBe("Remove");
  });

  test.for<[string, RollChanges, string, string | undefined]>([
    ["until it is back", { down: ["logs-data-2"] }, "2026-11-17T09:56:00Z", "logs-data-2"],
    ["and no longer", {}, "2026-11-17T09:56:00Z", undefined],
    ["five minutes at most", { down: ["logs-data-2"] }, "2026-11-17T09:55:00Z", undefined],
    [
      "without end if it is declared again",
      { cluster: managersAndData(3, 3), down: ["logs-data-2"] },
      "2026-11-17T09:00:00Z",
      "logs-data-2",
    ],
  ])("the roll waits for it %s", ([, changes, awaitingSince, want]) => {
    const after = newPod({ ...three, shards: copiesOn(2), ...changes });
    const { intent } = during(after, { step: "Await", awaitingSince });
    expect(intent?.operation?.type === "Restart" ? intent.operation.node : undefined).toBe(want);
  });
});
