import { describe, expect, test } from "vitest";

import { decideLane } from "../../src/lane.ts";
import { nodesLane } from "../../src/nodes/nodes-lane.ts";
import type { Operation } from "../../src/operation/operation.ts";
import { clusterReport } from "../../src/report/cluster-report.ts";
import { healthDuring } from "../../src/report/node-reports.ts";
import type { ClusterStatus, Seen } from "../../src/seen.ts";
import { aRoll, type RollChanges, shardOn } from "../support/a-roll.ts";
import { known } from "../support/a-seen.ts";

const now = new Date("2026-11-17T10:00:00Z");
const away = "logs-data-1";
const orders = shardOn("orders", ["logs-data-0", away]);
const operation: Operation = {
  id: "restart-1",
  type: "Restart",
  pool: "data",
  node: away,
  podUid: `uid-${away}`,
  cause: "the declared configuration is newer than the pod",
  step: "Await",
  startedAt: "2026-11-17T09:59:00Z",
  awaitingSince: "2026-11-17T09:59:30Z",
};

/** All outdated, one of them being restarted. */
function during(changes: RollChanges, status: Partial<ClusterStatus> = {}): Seen {
  const outdated = ["logs-data-0", away];
  return aRoll({ outdated, shards: orders, status: { health: "yellow", operation, ...status }, ...changes });
}

function report(seen: Seen): Partial<ClusterStatus> {
  return clusterReport(seen, [decideLane(nodesLane, seen, now)], now);
}

function withoutPod(seen: Seen): Seen {
  return { ...seen, pods: seen.pods.filter(({ name }) => name !== away) };
}

function withNewPod(seen: Seen, isReady: boolean): Seen {
  const pods = seen.pods.map((pod) =>
    pod.name === away ? { ...pod, uid: "new", isReady, inputsHash: undefined } : pod,
  );
  return { ...seen, pods };
}

function terminating(seen: Seen): Seen {
  const pods = seen.pods.map((pod) => (pod.name === away ? { ...pod, isTerminating: true } : pod));
  return { ...seen, pods };
}

describe("the status while a node is away by our hand", () => {
  const observations: readonly (readonly [string, Seen])[] = [
    ["its pod terminates and is still a member", terminating(during({}))],
    ["its pod is gone", withoutPod(during({ down: [away] }))],
    ["its successor starts", withNewPod(during({ down: [away] }), false)],
    ["its successor is a member and not ready", withNewPod(during({}), false)],
    [
      "its successor is up, and copies are on their way",
      withNewPod(during({ shards: shardOn("orders", ["logs-data-0", "?"]) }), true),
    ],
  ];
  const [[, first] = ["", during({})]] = observations;

  test.for(observations)("is the same with each look: %s", ([, seen]) => {
    expect(report(seen)).toEqual(report(first));
  });

  test("counts the node as away, and says nothing that may be untrue of it", () => {
    const { availableNodes, capacity, nodePools = [], nodes = [] } = report(first);
    expect(availableNodes).toBe(4);
    expect(capacity?.presentNodes).toBe(4);
    expect(nodePools.find(({ component }) => component === "data")).toMatchObject({
      ready: 1,
      current: 0,
      outdated: 1,
    });
    expect(nodes.find(({ name }) => name === away)).toEqual({
      name: away,
      pvcUid: `pvc-${away}`,
      roles: ["data"],
      member: false,
      voter: false,
    });
  });

  test("says immediately that another node is down", () => {
    const { availableNodes, nodes = [] } = report(withoutPod(during({ down: [away, "logs-managers-0"] })));
    expect(availableNodes).toBe(3);
    expect(nodes.find(({ name }) => name === "logs-managers-0")?.member).toBe(false);
  });

  test("names the pod of a node whose disk goes with it: a lost quorum is known by that", () => {
    const { nodes = [] } = report({ ...withNewPod(during({}), false), volumes: [] });
    expect(nodes.find(({ name }) => name === away)?.podUid).toBe("new");
  });

  test("says everything with the end of the operation", () => {
    const ended = withNewPod(
      during({ engine: { settings: known({ persistent: {}, transient: {} }) } }),
      true,
    );
    const { health, availableNodes, nodes = [] } = report(ended);
    expect({ health, availableNodes }).toEqual({ health: "green", availableNodes: 5 });
    expect(nodes.find(({ name }) => name === away)).toMatchObject({ podUid: "new", member: true });
  });
});

describe("health during a step", () => {
  test.for<[string, boolean, string | undefined, string, string]>([
    ["worse is said at once", true, "green", "yellow", "yellow"],
    ["red is said at once", true, "yellow", "red", "red"],
    ["silence is said at once", true, "red", "unknown", "unknown"],
    ["better waits for the next step", true, "yellow", "green", "yellow"],
    ["the next step says what is", false, "yellow", "green", "green"],
    ["nothing was said before", true, undefined, "green", "green"],
  ])("%s", ([, isSameStep, before, is, want]) => {
    expect(healthDuring({ away: undefined, isSameStep }, { before, now: is })).toBe(want);
  });
});
