import { describe, expect, test } from "vitest";

import { decideLane } from "../../src/lane.ts";
import { nodesLane } from "../../src/nodes/nodes-lane.ts";
import { newNodesMessage } from "../../src/repair/member-missing.ts";
import { clusterReport } from "../../src/report/cluster-report.ts";
import type { ClusterStatus, Seen } from "../../src/seen.ts";
import { aRoll } from "../support/a-roll.ts";

const now = new Date("2026-11-17T10:00:00Z");
const managers = ["logs-managers-0", "logs-managers-1", "logs-managers-2"];
const data = ["logs-data-0", "logs-data-1"];

function report(seen: Seen): Partial<ClusterStatus> {
  return clusterReport(seen, [decideLane(nodesLane, seen, now)], now);
}

/** The status, and then what is reported with it and these nodes missing. */
function following(
  status: Partial<ClusterStatus>,
  down: readonly string[],
  changes: Partial<Seen> = {},
): Partial<ClusterStatus> {
  return report({
    ...aRoll({ down }),
    ...changes,
    status: { clusterUuid: "U", version: "2.19.4", ...status },
  });
}

const first = following({}, data);

describe("the status while nodes start for the first time", () => {
  test("says once who is there, and in one sentence that others are not", () => {
    expect(first).toMatchObject({ availableNodes: 3, blockers: [{ message: newNodesMessage }] });
    expect(first.nodes?.filter(({ member }) => member === true).map(({ name }) => name)).toEqual(managers);
  });

  test("is the same when one more has joined", () => {
    expect(following(first, ["logs-data-1"])).toEqual(first);
  });

  test("says everything when all have", () => {
    const all = following(first, []);
    expect(all).toMatchObject({ availableNodes: 5, capacity: { presentNodes: 5 }, blockers: [] });
    expect(all.nodes?.every(({ member }) => member === true)).toBe(true);
    expect(all.nodePools?.map(({ ready }) => ready)).toEqual([3, 2]);
  });

  test("says immediately that one is lost which was there, by its name", () => {
    const lost = following(first, ["logs-managers-0", "logs-data-1"]);
    expect(lost.availableNodes).toBe(3);
    expect(lost.blockers?.[0]?.message).toContain("logs-managers-0");
    expect(lost.nodes?.find(({ name }) => name === "logs-managers-0")?.member).toBe(false);
    expect(lost.nodes?.find(({ name }) => name === "logs-data-0")?.member).toBe(true);
  });

  test.for<[string, Partial<Seen["pods"][number]>, string]>([
    ["after two minutes", { unreadySinceMs: now.getTime() - 121_000 }, "logs-data-1 is not ready"],
    [
      "with what keeps it from running",
      { trouble: "engine: ImagePullBackOff" },
      "logs-data-1: engine: ImagePullBackOff",
    ],
  ])("names a node %s, and says who has joined", ([, changes, want]) => {
    const { pods } = aRoll({ down: ["logs-data-1"] });
    const changed = pods.map((pod) => (pod.name === "logs-data-1" ? { ...pod, ...changes } : pod));
    const output = following(first, ["logs-data-1"], { pods: changed });
    expect(output.blockers?.[0]?.message).toContain(want);
    expect(output.availableNodes).toBe(4);
  });

  test("names a node that has no pod", () => {
    const pods = aRoll({ down: ["logs-data-1"] }).pods.filter(({ name }) => name !== "logs-data-1");
    expect(following(first, ["logs-data-1"], { pods }).blockers?.[0]?.message).toContain(
      "logs-data-1 has no pod",
    );
  });
});
