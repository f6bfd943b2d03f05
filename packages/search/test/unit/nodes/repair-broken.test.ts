import { describe, expect, test } from "vitest";

import { decideLane } from "../../../src/lane.ts";
import { nodesLane } from "../../../src/nodes/nodes-lane.ts";
import type { PodFacts } from "../../../src/seen.ts";
import { aPool, aSearchCluster } from "../../a-search-cluster.ts";
import { aRoll, type RollChanges, shardOn } from "../../support/a-roll.ts";

const now = new Date("2026-11-17T10:00:00Z");
const minutesAgo = (minutes: number): number => now.getTime() - minutes * 60_000;

/** What is done to logs-data-1, which is no member. */
function repaired(pod: Partial<PodFacts>, changes: RollChanges = {}): readonly object[] {
  const seen = aRoll({ down: ["logs-data-1"], outdated: ["logs-data-1"], ...changes });
  const pods = seen.pods.map((each) => (each.name === "logs-data-1" ? { ...each, ...pod } : each));
  const { actions } = decideLane(nodesLane, { ...seen, pods }, now);
  return actions.filter((action) => action.kind === "deletePod");
}

const done = [{ kind: "deletePod", node: "logs-data-1", uid: "uid-logs-data-1" }];
const ephemeral = aSearchCluster({
  pools: [
    aPool({ name: "managers", replicas: 3, roles: ["cluster_manager"] }),
    aPool({ name: "data", replicas: 2, roles: ["data"], storage: { kind: "emptyDir", source: {} } }),
  ],
});

describe("a pod that does not run with what it was started with", () => {
  test.for<[string, Partial<PodFacts>, RollChanges, readonly object[]]>([
    ["crashed three times", { restarts: 3 }, {}, done],
    ["crashed twice: it may still come up", { restarts: 2, unreadySinceMs: minutesAgo(1) }, {}, []],
    ["[search/SC-49] its image cannot be pulled", { isImageMissing: true, isPending: true }, {}, done],
    ["pending for five minutes", { isPending: true, unreadySinceMs: minutesAgo(5) }, {}, done],
    ["pending for four minutes", { isPending: true, unreadySinceMs: minutesAgo(4) }, {}, []],
    ["running and unready for ten minutes", { unreadySinceMs: minutesAgo(10) }, {}, done],
    [
      "[search/SC-52] not outdated: whatever it does, it is left alone",
      { restarts: 9 },
      { outdated: [] },
      [],
    ],
    ["on its way out already", { restarts: 3, isTerminating: true }, {}, []],
    ["a member although its pod says otherwise", { restarts: 3, isReady: false }, { down: [] }, []],
    [
      "others are down too: no health is asked for",
      { restarts: 3 },
      { down: ["logs-data-1", "logs-data-0", "logs-managers-0"] },
      done,
    ],
    [
      "the engine does not answer: it is no member of anything",
      { restarts: 3 },
      { engine: { nodes: { isKnown: false, why: "unreachable" } } },
      done,
    ],
    [
      "its emptyDir may have the only copy",
      { restarts: 3 },
      { cluster: ephemeral, shards: shardOn("orders", ["?"]) },
      [],
    ],
    [
      "its emptyDir, with every shard started elsewhere",
      { restarts: 3 },
      { cluster: ephemeral, shards: shardOn("orders", ["logs-data-0", "?"]) },
      done,
    ],
  ])("%s", ([, pod, changes, want]) => {
    expect(repaired(pod, changes)).toEqual(want);
  });
});
