import { describe, expect, test } from "vitest";

import { poolSample } from "../../src/autoscaling/pool-sample.ts";
import type { NodeLoad } from "../../src/engine/engine-facts.ts";
import { decideLane } from "../../src/lane.ts";
import { nodesLane } from "../../src/nodes/nodes-lane.ts";
import { aRoll, managersAndData, shardOn } from "../support/a-roll.ts";
import { known } from "../support/a-seen.ts";

function loadOf(node: string, changes: Partial<NodeLoad> = {}): NodeLoad {
  return {
    node,
    shards: 1,
    documents: 1,
    storeBytes: 100,
    diskTotalBytes: 1_000,
    diskFreeBytes: 750,
    heapPercent: 10,
    cpuPercent: 1,
    searchQueue: 0,
    writeRejections: 0,
    ...changes,
  };
}

const unknown: readonly { readonly name: string; readonly disk: Partial<NodeLoad> }[] = [
  { name: "neither size nor free space", disk: { diskTotalBytes: undefined, diskFreeBytes: undefined } },
  { name: "no free space", disk: { diskFreeBytes: undefined } },
  { name: "no size", disk: { diskTotalBytes: undefined } },
];

describe("a node of which the engine reports", () => {
  test.each(unknown)("$name keeps the pool from being scaled by its disks", ({ disk }) => {
    const names = ["a", "b"];
    const inputs = { atMs: 0, before: new Map() };
    const whole = poolSample(
      names,
      names.map((name) => loadOf(name)),
      inputs,
    );
    const part = poolSample(names, [loadOf("a"), loadOf("b", disk)], inputs);
    expect([whole?.values["Disk"], part?.values["Disk"], part?.values["Heap"]]).toEqual([25, undefined, 10]);
  });

  test.each(unknown)("$name is not counted upon when another one is removed", ({ disk }) => {
    const decide = (changes: Partial<NodeLoad>): unknown => {
      const nodes = ["logs-managers-0", "logs-data-0", "logs-data-1", "logs-data-2"];
      const nodeLoad = known(nodes.map((name) => loadOf(name, name === "logs-data-1" ? changes : {})));
      const shards = shardOn("x", ["logs-data-2", "logs-data-0"]);
      const seen = aRoll({
        cluster: managersAndData(1, 2),
        slots: { data: 3 },
        shards,
        engine: { nodeLoad },
      });
      const { rule, outcome } = decideLane(nodesLane, seen, new Date("2026-11-17T10:00:00Z"));
      return [rule, "why" in outcome ? outcome.why.reason : ""];
    };
    expect([decide({}), decide(disk)]).toEqual([
      ["removeNodes", "Removing"],
      ["removalRefused", "ScaleDownRefused"],
    ]);
  });
});
