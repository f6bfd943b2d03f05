import { describe, expect, test } from "vitest";

import { refusalOf } from "../../../src/autoscaling/pool-facts.ts";
import { nodeFacts } from "../../../src/facts/node-facts.ts";
import { decideLane } from "../../../src/lane.ts";
import { isInsideWindow } from "../../../src/maintenance/is-inside-window.ts";
import { nodesLane } from "../../../src/nodes/nodes-lane.ts";
import type { Operation } from "../../../src/operation/operation.ts";
import { poolsLane } from "../../../src/pools/pools-lane.ts";
import type { Seen } from "../../../src/seen.ts";
import { aPool, aSearchCluster } from "../../a-search-cluster.ts";
import { aRoll } from "../../support/a-roll.ts";
import { aPod, aSeen, aVolume } from "../../support/a-seen.ts";

const now = new Date("2026-11-18T10:00:00Z");

/** Two data nodes are declared and run; the StatefulSet has another number of places. */
function withSlots(replicas: number, changes: Partial<Seen> = {}): Seen {
  const seen = aRoll({ seen: changes });
  const sets = new Map(seen.statefulSets);
  const data = sets.get("data");
  if (data !== undefined) sets.set("data", { ...data, spec: { ...data.spec, replicas } });
  return { ...seen, statefulSets: sets };
}

function dataNodes(seen: Seen): readonly string[] {
  return nodeFacts(seen)
    .filter(({ pool }) => pool === "data")
    .map(({ name }) => name);
}

describe("[security/104] nodes are those that exist, never one for each number below another", () => {
  const declared = ["logs-data-0", "logs-data-1"];
  const extra = (name: string): Seen => {
    const seen = aRoll();
    return { ...seen, pods: [...seen.pods, aPod(name, { pool: "data" })] };
  };

  test.for<[string, Seen, readonly string[]]>([
    ["as declared", aRoll(), declared],
    ["a pod with a huge ordinal", extra("logs-data-300000000"), [...declared, "logs-data-300000000"]],
    ["a pod whose name is not that of a node", extra("evil-300000000"), declared],
    ["a pod whose ordinal is no number", extra("logs-data-1e9"), declared],
    ["a StatefulSet with a billion places", withSlots(1e9), [...declared, "logs-data-999999999"]],
    [
      "an empty place between: only what is there, and the last",
      withSlots(9, { volumes: [aVolume("logs-data-5", {})] }),
      [...declared, "logs-data-5", "logs-data-8"],
    ],
    [
      "a claim without a place is not a node",
      withSlots(2, { volumes: [aVolume("logs-data-5", {})] }),
      declared,
    ],
  ])("%s", ([, seen, want]) => {
    expect(dataNodes(seen)).toEqual(want);
  });

  test("a billion empty places go in one step, down to the next node that exists", () => {
    const operation: Operation = {
      id: "remove-1",
      type: "Remove",
      pool: "data",
      node: "logs-data-999999999",
      podUid: "",
      cause: "test",
      step: "Shrink",
      startedAt: "2026-11-18T09:50:00Z",
    };
    expect(decideLane(nodesLane, withSlots(1e9), now).intent?.operation).toMatchObject({
      type: "Remove",
      node: operation.node,
    });
    const shrunkTo = (seen: Seen): unknown =>
      decideLane(nodesLane, { ...seen, status: { ...seen.status, operation } }, now).actions;
    expect(shrunkTo(withSlots(1e9))).toMatchObject([{ kind: "shrinkPool", to: 2 }]);
    const claimed = withSlots(1e9, { volumes: [aVolume("logs-data-41", {})] });
    expect(shrunkTo(claimed)).toMatchObject([{ kind: "shrinkPool", to: 42 }]);
  });

  test("why auto-scaling cannot take a node is answered without a list of all of them", () => {
    const seen = withSlots(1e9);
    const pool = seen.cluster.pools.find(({ name }) => name === "data");
    expect(pool && refusalOf(pool, seen, now)).toBeUndefined();
  });

  test("a retained claim with a huge ordinal makes no pods", () => {
    const cluster = aSearchCluster({ pools: [aPool({ name: "data", replicas: 2 })] });
    const owned = { engineUuid: "U", holdsData: true, holdsManager: true };
    const seen = aSeen({
      cluster,
      status: { bootstrap: { mode: "Recover" } },
      bootstrapList: "empty",
      volumes: [aVolume("logs-data-3", owned), aVolume("logs-data-300000000", owned)],
    });
    const sets = decideLane(poolsLane, seen, now).actions.flatMap((action) =>
      action.kind === "apply" ? [action.object] : [],
    );
    expect(sets).toMatchObject([{ spec: { replicas: 4 } }]);
  });

  test("a window of centuries that never opens is not walked through", () => {
    const window = { cron: "0 0 30 2 *", durationMs: Number.MAX_SAFE_INTEGER, timeZone: "UTC" };
    expect(isInsideWindow([window], now)).toBe(false);
  });
});

test("what an emptyDir holds goes with the pod; a volume or a directory of the machine stays, also beside it", () => {
  const cluster = aSearchCluster({
    pools: [
      aPool({ name: "kept" }),
      aPool({ name: "gone", storage: { kind: "emptyDir", source: {} } }),
      aPool({ name: "machine", storage: { kind: "hostPath", source: { path: "/data" } } }),
    ],
  });
  const found = nodeFacts(aRoll({ cluster })).map(({ pool, isEphemeral }) => [pool, isEphemeral]);
  expect(found).toEqual([
    ["kept", false],
    ["gone", true],
    ["machine", false],
  ]);
});
