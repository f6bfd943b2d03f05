import { expect, test } from "vitest";

import { decideLane } from "../../src/lane.ts";
import { nodesLane } from "../../src/nodes/nodes-lane.ts";
import { largeCluster } from "../fakes/large-cluster.ts";

test("the cluster that benchmarks look at is well, but for one node that has to restart", async () => {
  const cluster = await largeCluster({ dataNodes: 5, copies: 40 });
  const seen = cluster.sample();
  expect(seen.pods.map(({ pool }) => pool)).toEqual([
    ...Array.from({ length: 5 }, () => "data"),
    ...Array.from({ length: 3 }, () => "managers"),
  ]);
  const { intent } = decideLane(nodesLane, seen, new Date("2026-11-17T00:00:00Z"));
  expect(intent?.operation).toMatchObject({ type: "Restart", node: "logs-data-0" });
  // What lies beside it is not there, and would be made.
  expect(new Set(cluster.decide(seen))).toContain("apply");
});
