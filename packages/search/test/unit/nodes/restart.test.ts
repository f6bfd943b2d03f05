import { describe, expect, test } from "vitest";

import { disruptionState } from "../../../src/facts/disruption-state.ts";
import { nodeFacts } from "../../../src/facts/node-facts.ts";
import { decideLane, type LaneDecision } from "../../../src/lane.ts";
import { nodesLane } from "../../../src/nodes/nodes-lane.ts";
import type { Operation } from "../../../src/operation/operation.ts";
import { restartRefusals } from "../../../src/operation/refusals.ts";
import { restartOrder } from "../../../src/restart/restart-outdated.ts";
import type { Seen } from "../../../src/seen.ts";
import { aPool, aSearchCluster } from "../../a-search-cluster.ts";
import { aRoll, managersAndData, type RollChanges, shardOn } from "../../support/a-roll.ts";
import { known } from "../../support/a-seen.ts";

const now = new Date("2026-11-17T10:00:00Z");

function decide(seen: Seen): LaneDecision {
  return decideLane(nodesLane, seen, now);
}

function refusedBy(node: string, changes: RollChanges): readonly string[] {
  const state = disruptionState(aRoll(changes));
  const found = state.nodes.find(({ name }) => name === node);
  if (found === undefined) throw new Error(`no node ${node}`);
  return restartRefusals(found, state).map(({ check }) => check);
}

const orders = shardOn("orders", ["logs-data-0", "logs-data-1"]);
const ephemeral = aSearchCluster({
  pools: [
    aPool({ name: "managers", replicas: 3, roles: ["cluster_manager"] }),
    aPool({ name: "data", replicas: 2, roles: ["data"], storage: { kind: "emptyDir", source: {} } }),
  ],
});
const enable = "cluster.routing.allocation.enable";

/** The data pool's StatefulSet as it was written, and as far as its controller has got. */
function sets(generation: number, observedGeneration: number): RollChanges {
  const found = [...aRoll().statefulSets].map(([pool, set]) => [
    pool,
    pool === "data"
      ? { ...set, metadata: { ...set.metadata, generation }, status: { observedGeneration } }
      : set,
  ]);
  return { seen: { statefulSets: new Map(found as [string, never][]) } };
}

describe("what speaks against the restart of a node", () => {
  test.for<[string, string, RollChanges, readonly string[]]>([
    ["nothing", "logs-data-1", { shards: orders }, []],
    [
      "the newest template has not been seen by the controller of its set",
      "logs-data-1",
      sets(2, 1),
      ["templateSeen"],
    ],
    ["the newest template has been seen", "logs-data-1", sets(2, 2), []],
    ["a template that concerns another pool has not been seen", "logs-managers-1", sets(2, 1), []],
    [
      "it is down, and the newest template has not been seen",
      "logs-data-1",
      { ...sets(2, 1), down: ["logs-data-1"] },
      ["templateSeen"],
    ],
    ["another node is down", "logs-data-1", { down: ["logs-data-0"] }, ["nobodyElseDown"]],
    ["a manager is down", "logs-data-1", { down: ["logs-managers-2"] }, ["nobodyElseDown"]],
    [
      "one voter of three would be left, and no one is up to take the vote",
      "logs-managers-1",
      { voters: ["logs-managers-0", "logs-managers-1", "gone"], down: ["logs-managers-2"] },
      ["nobodyElseDown", "quorumSurvives"],
    ],
    [
      "a copy is nowhere else",
      "logs-data-1",
      { shards: shardOn("orders", ["logs-data-1", "?"]) },
      ["copiesElsewhere", "settled"],
    ],
    [
      "an index without replicas is away meanwhile, and comes back",
      "logs-data-1",
      { shards: shardOn("orders", ["logs-data-1"]) },
      [],
    ],
    [
      "[search/SC-55] an index without replicas on an emptyDir would be gone",
      "logs-data-1",
      { cluster: ephemeral, shards: shardOn("orders", ["logs-data-1"]) },
      ["ephemeralOnlyCopy"],
    ],
    [
      "[search/SC-55] with a copy that has started elsewhere it may go",
      "logs-data-1",
      { cluster: ephemeral, shards: orders },
      [],
    ],
    [
      "a replica is not assigned although there is room",
      "logs-managers-1",
      { shards: shardOn("orders", ["logs-data-0", "?"]) },
      ["settled"],
    ],
    [
      "[search/SC-50] a replica for which there is no node does not count: one data node may restart",
      "logs-data-0",
      { cluster: managersAndData(1, 1), shards: shardOn("orders", ["logs-data-0", "?"]) },
      [],
    ],
    [
      "another client restricts allocation",
      "logs-data-1",
      { engine: { settings: known({ persistent: { [enable]: "none" }, transient: {} }) } },
      ["allocationOpen"],
    ],
    [
      "the elected manager waits for the others",
      "logs-managers-0",
      { outdated: ["logs-managers-0", "logs-managers-1"] },
      ["electedLast"],
    ],
    ["the elected manager is the last one", "logs-managers-0", { outdated: ["logs-managers-0"] }, []],
    ["a lone manager", "logs-managers-0", { cluster: managersAndData(1, 2) }, []],
  ])("%s", ([, node, changes, want]) => {
    expect(refusedBy(node, changes)).toEqual(want);
  });

  test("a copy that has not started yet is no copy", () => {
    const [primary, replica] = orders;
    if (primary === undefined || replica === undefined) throw new Error("two copies");
    const starting = [
      { ...primary, node: "logs-data-1" },
      { ...replica, node: "logs-data-0", state: "INITIALIZING" as const },
    ];
    expect(refusedBy("logs-data-1", { shards: starting })).toContain("copiesElsewhere");
    expect(refusedBy("logs-data-0", { shards: starting })).not.toContain("copiesElsewhere");
  });

  test("a pod that is ready and no member is down, and so is a member whose pod is terminating", () => {
    const all = aRoll();
    const members = all.engine.nodes.isKnown ? all.engine.nodes.value : [];
    const strangers = known(members.filter(({ name }) => name !== "logs-data-0"));
    expect(refusedBy("logs-data-1", { engine: { nodes: strangers } })).toEqual(["nobodyElseDown"]);
    const pods = all.pods.map((pod) => (pod.name === "logs-data-0" ? { ...pod, isTerminating: true } : pod));
    expect(refusedBy("logs-data-1", { seen: { pods } })).toEqual(["nobodyElseDown"]);
  });
});

describe("the order of a roll", () => {
  test("what does not run, then nodes without data, the coldest tier, the hottest, managers, the elected one; high ordinals first", () => {
    const cluster = aSearchCluster({
      pools: [
        aPool({ name: "managers", replicas: 3, roles: ["cluster_manager"] }),
        aPool({ name: "hot", replicas: 2, roles: ["data_hot"] }),
        aPool({ name: "cold", replicas: 1, roles: ["data_cold"] }),
        aPool({ name: "frozen", replicas: 1, roles: ["data_frozen"] }),
        aPool({ name: "ingest", replicas: 1, roles: ["ingest"] }),
      ],
    });
    const outdated = nodeFacts(aRoll({ cluster })).map(({ name }) => name);
    const seen = aRoll({ cluster, outdated, down: ["logs-hot-0"] });
    expect(restartOrder(nodeFacts(seen)).map(({ name }) => name)).toEqual([
      "logs-hot-0",
      "logs-ingest-0",
      "logs-frozen-0",
      "logs-cold-0",
      "logs-hot-1",
      "logs-managers-2",
      "logs-managers-1",
      "logs-managers-0",
    ]);
  });
});

const operation: Operation = {
  id: "restart-1",
  type: "Restart",
  pool: "data",
  node: "logs-data-1",
  podUid: "uid-logs-data-1",
  cause: "test",
  step: "Prepare",
  startedAt: "2026-11-17T09:59:00Z",
};

function continued(changes: RollChanges, more: Partial<Operation> = {}): LaneDecision {
  const status = { ...changes.status, operation: { ...operation, ...more } };
  return decide(aRoll({ shards: orders, outdated: ["logs-data-1"], ...changes, status }));
}

const frozen = known({
  persistent: { [enable]: "primaries", "cluster.metadata.quartermaster_frozen_by": "restart-1" },
  transient: {},
});
const deletePod = { kind: "deletePod", operation: "restart-1", node: "logs-data-1", uid: "uid-logs-data-1" };
const another = aRoll().pods.map((pod) => (pod.name === "logs-data-1" ? { ...pod, uid: "new" } : pod));

describe("a restart step by step", () => {
  test("declared first: nothing is done in the same look", () => {
    const { intent, actions } = decide(aRoll({ shards: orders, outdated: ["logs-data-1"] }));
    expect({ type: intent?.operation?.type, node: intent?.operation?.node, actions }).toEqual({
      type: "Restart",
      node: "logs-data-1",
      actions: [],
    });
  });

  test.for<[string, LaneDecision, readonly object[]]>([
    [
      "replicas are kept from moving first",
      continued({}),
      [{ kind: "freezeAllocation", operation: "restart-1" }],
    ],
    ["then the pod is deleted", continued({ engine: { settings: frozen } }), [deletePod]],
    [
      "the controller of its set has not seen the newest template: it waits, nothing is undone",
      continued({ engine: { settings: frozen }, ...sets(2, 1) }),
      [],
    ],
    [
      "frozen by an operation before this one does not count",
      continued({ engine: { settings: frozen } }, { id: "restart-2" }),
      [{ kind: "freezeAllocation", operation: "restart-2" }],
    ],
    [
      "another node went down meanwhile: all is undone",
      continued({ down: ["logs-data-0"], engine: { settings: frozen } }),
      [{ kind: "releaseAllocation" }],
    ],
    [
      "the edit was taken back: all is undone",
      continued({ outdated: [], engine: { settings: frozen } }),
      [{ kind: "releaseAllocation" }],
    ],
    [
      "the engine stopped answering: nothing is done",
      continued({ engine: { shards: { isKnown: false, why: "timeout" } } }),
      [],
    ],
    [
      "the pod is another one: what was changed is undone",
      continued(
        { engine: { settings: frozen }, seen: { pods: another } },
        { awaitingSince: "2026-11-17T09:59:30Z" },
      ),
      [{ kind: "releaseAllocation" }],
    ],
  ])("%s", ([, { actions }, want]) => {
    expect(actions).toEqual(want);
  });

  test("back, undone, at rest: the operation ends, and the next node is declared with the same write", () => {
    const { intent, actions } = continued(
      {
        outdated: ["logs-data-0"],
        seen: {
          pods: aRoll({ outdated: ["logs-data-0"] }).pods.map((pod) =>
            pod.name === "logs-data-1" ? { ...pod, uid: "new" } : pod,
          ),
        },
      },
      { awaitingSince: "2026-11-17T09:59:30Z" },
    );
    expect(actions).toMatchObject([
      { kind: "verifyReleased", node: "logs-data-1" },
      { kind: "record", event: { reason: "NodeRestarted" } },
    ]);
    expect(intent?.operation?.node).toBe("logs-data-0");
  });

  test("not back after five minutes: copies are rebuilt elsewhere, and no one else is touched", () => {
    const away = { down: ["logs-data-1"], engine: { settings: frozen } };
    const pods = aRoll({ down: ["logs-data-1"] }).pods.map((pod) =>
      pod.name === "logs-data-1" ? { ...pod, uid: "new" } : pod,
    );
    const early = continued({ ...away, seen: { pods } }, { awaitingSince: "2026-11-17T09:58:00Z" });
    expect(early.actions).toEqual([]);
    const late = continued(
      { ...away, outdated: ["logs-data-0"], seen: { pods } },
      { awaitingSince: "2026-11-17T09:54:00Z" },
    );
    expect(late.actions).toEqual([{ kind: "releaseAllocation" }]);
    expect(late.intent?.operation?.node).toBe("logs-data-1");
  });

  test("[search/SC-44] of two managers the one that votes gives its vote away first; the exclusion is cleared when it is back", () => {
    const two = managersAndData(2, 0);
    const votes = { cluster: two, shards: [], voters: ["logs-managers-1"], outdated: ["logs-managers-1"] };
    const declared = decide(aRoll(votes)).intent?.operation;
    expect(declared).toMatchObject({ node: "logs-managers-1", movesVote: true });
    const before = aRoll({ ...votes, status: { operation: declared } });
    expect(decide(before).actions).toEqual([{ kind: "excludeVote", node: "logs-managers-1" }]);
    const moved = known({
      clusterUuid: "U",
      voters: ["logs-managers-0"],
      exclusions: ["logs-managers-1"],
      elected: "logs-managers-0",
    });
    const after = aRoll({ ...votes, engine: { coordination: moved }, status: { operation: declared } });
    expect(decide(after).actions).toMatchObject([{ kind: "deletePod", node: "logs-managers-1" }]);
    const awaited = { ...declared, awaitingSince: "2026-11-17T09:59:30Z" } as Operation;
    const back = aRoll({
      ...votes,
      outdated: [],
      engine: { coordination: moved },
      status: { operation: awaited },
      seen: { pods: aRoll({ cluster: two }).pods.map((pod) => ({ ...pod, uid: "new" })) },
    });
    expect(decide(back).actions).toEqual([{ kind: "clearVotes", ours: ["logs-managers-1"] }]);
  });

  test("with drainDataNodes shards leave the node first, if there is room for them; if they do not, they stay and are protected", () => {
    const draining = { ...managersAndData(3, 2), drainsBeforeRestart: true };
    const alone = shardOn("orders", ["logs-data-1"]);
    const first = decide(aRoll({ cluster: draining, shards: alone, outdated: ["logs-data-1"] })).intent
      ?.operation;
    expect(first).toMatchObject({ node: "logs-data-1", drains: true });
    const crowded = decide(aRoll({ cluster: draining, shards: orders, outdated: ["logs-data-1"] })).intent
      ?.operation;
    expect(crowded).toMatchObject({ node: "logs-data-1" });
    expect(crowded?.drains).toBeUndefined();
    const stuck = { drains: true, step: "Drain", progressedAt: "2026-11-17T09:40:00Z" } as const;
    const excluded = known({
      persistent: {
        "cluster.routing.allocation.exclude._name": "logs-data-1",
        "cluster.metadata.quartermaster_excluded": "logs-data-1",
      },
      transient: {},
    });
    const given = continued({ cluster: draining, shards: alone, engine: { settings: excluded } }, stuck);
    expect(given.actions).toEqual([{ kind: "releaseAllocation" }]);
    expect(given.intent?.operation).toMatchObject({ step: "Prepare" });
    expect(given.intent?.operation?.drains).toBeUndefined();
  });

  test("[search/SC-47] fewer replicas while a restarted pod is away: the restart continues, no place is taken", () => {
    const { actions, intent } = continued({ down: ["logs-data-1"], slots: { data: 3 } });
    expect(actions.filter((action) => action.kind === "shrinkPool")).toEqual([]);
    expect(intent?.operation?.type).toBe("Restart");
  });

  test("[search/SC-46] fewer nodes and another configuration in one edit: the removal is the one operation", () => {
    const { intent } = decide(aRoll({ slots: { data: 3 }, outdated: ["logs-data-0", "logs-data-1"] }));
    expect(intent?.operation).toMatchObject({ type: "Remove", node: "logs-data-2" });
  });
});
