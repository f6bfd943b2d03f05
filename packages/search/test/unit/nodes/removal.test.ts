import { describe, expect, test } from "vitest";

import type { EngineShard } from "../../../src/engine/engine-facts.ts";
import { decideLane, type LaneDecision } from "../../../src/lane.ts";
import { nodesLane } from "../../../src/nodes/nodes-lane.ts";
import type { Operation } from "../../../src/operation/operation.ts";
import { claimToDelete } from "../../../src/removal/continue-removal.ts";
import type { Seen } from "../../../src/seen.ts";
import { aPool, aSearchCluster } from "../../a-search-cluster.ts";
import { aRoll, managersAndData, type RollChanges, shardOn } from "../../support/a-roll.ts";
import { aVolume, known } from "../../support/a-seen.ts";

const now = new Date("2026-11-17T10:00:00Z");
const exclude = "cluster.routing.allocation.exclude._name";

function decide(seen: Seen): LaneDecision {
  return decideLane(nodesLane, seen, now);
}

/** Two data nodes are declared, three are there. */
const three: RollChanges = { slots: { data: 3 } };
const nodes = ["logs-data-0", "logs-data-1", "logs-data-2"];

function withReplicas(count: number): readonly EngineShard[] {
  return shardOn("orders", nodes.slice(0, count));
}

describe("whether the others can do without a node", () => {
  const full = known(
    nodes.map((node) => ({
      node,
      shards: 1,
      documents: 1,
      storeBytes: 300,
      diskTotalBytes: 1000,
      diskFreeBytes: 300,
      heapPercent: 1,
      cpuPercent: 1,
      searchQueue: 0,
      writeRejections: 0,
    })),
  );
  test.for<[string, RollChanges, string]>([
    ["copies have room", { shards: withReplicas(2) }, "Remove logs-data-2"],
    ["[search/SC-64] three copies need three nodes", { shards: withReplicas(3) }, "ScaleDownRefused"],
    [
      "copies that the engine fits by itself do not count",
      { shards: shardOn(".security", nodes) },
      "Remove logs-data-2",
    ],
    [
      "the disks would be too full",
      { shards: withReplicas(3).slice(1), engine: { nodeLoad: full } },
      "ScaleDownRefused",
    ],
    [
      "another client keeps shards from moving",
      {
        engine: {
          settings: known({ persistent: { "cluster.routing.allocation.enable": "none" }, transient: {} }),
        },
      },
      "ScaleDownRefused",
    ],
    [
      "it is not known where shards are",
      { engine: { shards: { isKnown: false, why: "timeout" } } },
      "Removing",
    ],
    [
      "it is not known how full disks are",
      { engine: { nodeLoad: { isKnown: false, why: "timeout" } } },
      "Removing",
    ],
    ["a declared node has not joined yet", { down: ["logs-data-0"] }, "MemberMissing"],
  ])("%s: %s", ([, changes, want]) => {
    const { intent, outcome, actions } = decide(aRoll({ ...three, ...changes }));
    const { operation } = intent ?? {};
    const reason = outcome.kind === "settled" ? "settled" : outcome.why.reason;
    expect(operation === undefined ? reason : `${operation.type} ${operation.node}`).toBe(want);
    expect(actions).toEqual([]);
  });

  test("a refused removal does not keep a restart from its turn", () => {
    const { intent } = decide(aRoll({ ...three, shards: withReplicas(3), outdated: ["logs-data-1"] }));
    expect(intent?.operation).toMatchObject({ type: "Restart", node: "logs-data-1" });
  });

  test("a drain that was given up is not begun again before its time", () => {
    const stalledDrain = {
      node: "logs-data-2",
      attempts: 1,
      message: "It stays.",
      retryAt: "2026-11-17T10:05:00Z",
    };
    const put = aRoll({ ...three, status: { stalledDrain } });
    expect(decide(put)).toMatchObject({
      rule: "removalRefused",
      outcome: { why: { reason: "DrainStalled" } },
    });
    const later = new Date("2026-11-17T10:05:01Z");
    expect(decideLane(nodesLane, put, later).intent?.operation).toMatchObject({ node: "logs-data-2" });
  });
});

const operation: Operation = {
  id: "remove-1",
  type: "Remove",
  pool: "data",
  node: "logs-data-2",
  podUid: "uid-logs-data-2",
  claimUid: "pvc-logs-data-2",
  cause: "test",
  step: "Drain",
  drains: true,
  startedAt: "2026-11-17T09:50:00Z",
};
const excluded = known({
  persistent: { [exclude]: "logs-data-2", "cluster.metadata.quartermaster_excluded": "logs-data-2" },
  transient: {},
});
const drained = { drainedAt: "2026-11-17T09:59:50Z", shardsLeft: 0 };

function continued(changes: RollChanges, more: Partial<Operation> = {}): LaneDecision {
  const engine = { settings: excluded, ...changes.engine };
  const status = { operation: { ...operation, ...more } };
  return decide(aRoll({ ...three, ...changes, engine, status }));
}

/** Two copies, one of them on the node that goes. */
const held = shardOn("orders", ["logs-data-1", "logs-data-2"]);

const shrink = {
  kind: "shrinkPool",
  operation: "remove-1",
  pool: "data",
  uid: "set-data",
  to: 2,
  podUid: "uid-logs-data-2",
};

describe("a removal step by step", () => {
  test.for<[string, LaneDecision, { readonly actions?: readonly object[]; readonly step?: string }]>([
    [
      "its shards move away first",
      continued({ engine: { settings: known({ persistent: {}, transient: {} }) } }),
      { actions: [{ kind: "excludeNode", node: "logs-data-2" }], step: "Drain" },
    ],
    ["it holds shards", continued({ shards: held }), { step: "Drain" }],
    ["seen empty once", continued({}), { step: "Drain" }],
    ["seen empty twice, the intent to take its place is written", continued({}, drained), { step: "Shrink" }],
    [
      "then its place is taken",
      continued({}, { ...drained, step: "Shrink" }),
      { actions: [shrink], step: "Shrink" },
    ],
    [
      "[search/SC-61] a shard is back on it",
      continued({ shards: held }, { ...drained, step: "Shrink" }),
      { step: "Drain" },
    ],
    [
      "[search/SC-61] the table says nothing, its statistics say otherwise",
      continued(
        {
          engine: {
            nodeLoad: known(
              nodes.map((node) => ({
                node,
                shards: 1,
                documents: 5,
                storeBytes: 200,
                diskTotalBytes: 1000,
                diskFreeBytes: 900,
                heapPercent: 1,
                cpuPercent: 1,
                searchQueue: 0,
                writeRejections: 0,
              })),
            ),
          },
        },
        { ...drained, step: "Shrink" },
      ),
      { step: "Drain" },
    ],
    [
      "[search/SC-61] the table is not known",
      continued({ engine: { shards: { isKnown: false, why: "HTTP 500" } } }, { ...drained, step: "Shrink" }),
      { step: "Drain" },
    ],
    [
      "[search/SC-61] the statistics are not known",
      continued({ engine: { nodeLoad: { isKnown: false, why: "timeout" } } }, { ...drained, step: "Shrink" }),
      { step: "Drain" },
    ],
    [
      "another node is down",
      continued({ down: ["logs-data-0"] }, { ...drained, step: "Shrink" }),
      { step: "Shrink" },
    ],
    [
      "[search/SC-69] it was lost on the way, and copies are missing",
      continued({ down: ["logs-data-2"], shards: shardOn("orders", ["logs-data-0", "?"]) }, drained),
      { step: "Drain" },
    ],
    [
      "[search/SC-69] the same where an author skips the check that all is settled",
      continued(
        {
          cluster: {
            ...managersAndData(3, 2),
            requests: { ...managersAndData(3, 2).requests, skipChecks: ["settled"] },
          },
          down: ["logs-data-2"],
          shards: shardOn("orders", ["logs-data-0", "?"]),
        },
        drained,
      ),
      { step: "Drain" },
    ],
    [
      "[search/SC-69] it was lost on the way, and every copy is complete elsewhere",
      continued({ down: ["logs-data-2"], shards: withReplicas(2) }, drained),
      { step: "Shrink" },
    ],
    [
      "[search/SC-65] declared again",
      continued({ cluster: managersAndData(3, 3) }),
      { actions: [{ kind: "releaseAllocation" }], step: "Release" },
    ],
    [
      "an index was given more replicas than nodes will be left",
      continued({ shards: withReplicas(3) }),
      { actions: [{ kind: "releaseAllocation" }], step: "Release" },
    ],
    [
      "another pod has its name",
      continued({}, { podUid: "other" }),
      { actions: [{ kind: "releaseAllocation" }], step: "Release" },
    ],
  ])("%s", ([, decision, { actions = [], step }]) => {
    expect(decision.actions).toEqual(actions);
    expect(decision.intent?.operation?.step).toBe(step);
  });

  test("[search/SC-61] a node that has shards again is seen empty twice from then on", () => {
    expect(continued({ shards: held }, drained).intent?.operation?.drainedAt).toBeUndefined();
  });

  test("another node that goes as well and was never started keeps no one", () => {
    const four = { slots: { data: 4 } };
    const seen = aRoll({
      ...four,
      down: ["logs-data-2"],
      engine: {
        settings: known({
          persistent: { [exclude]: "logs-data-3", "cluster.metadata.quartermaster_excluded": "logs-data-3" },
          transient: {},
        }),
      },
    });
    const op = { ...operation, node: "logs-data-3", podUid: "uid-logs-data-3", ...drained };
    const withPod = (isPending: boolean): Seen => ({
      ...seen,
      status: { ...seen.status, operation: op },
      pods: seen.pods.map((pod) => (pod.name === "logs-data-2" ? { ...pod, isPending } : pod)),
    });
    expect(decide(withPod(true)).intent?.operation?.step).toBe("Shrink");
    expect(decide(withPod(false)).intent?.operation?.step).toBe("Drain");
  });

  test("[search/SC-70] nothing moved for 15 minutes: withdrawn, told, tried again later, and a restart gets its turn", () => {
    const stuck = { progressedAt: "2026-11-17T09:45:00Z", shardsLeft: 1 };
    const given = continued({ shards: held }, stuck);
    expect(given.actions).toEqual([{ kind: "releaseAllocation" }]);
    expect(given.intent?.stalledDrain).toMatchObject({
      node: "logs-data-2",
      attempts: 1,
      retryAt: "2026-11-17T10:10:00Z",
    });
    expect(given.intent?.stalledDrain?.message).toContain("orders[0]");
    const after = decide(
      aRoll({
        ...three,
        shards: withReplicas(2),
        outdated: ["logs-data-1"],
        status: { operation: given.intent?.operation, stalledDrain: given.intent?.stalledDrain },
      }),
    );
    expect(after.intent?.operation).toMatchObject({ type: "Restart", node: "logs-data-1" });
  });

  test("[search/SC-62] a manager leaves the voters before its place is taken", () => {
    const cluster = aSearchCluster({
      pools: [aPool({ name: "managers", replicas: 1, roles: ["cluster_manager"] })],
    });
    const all = {
      cluster,
      slots: { managers: 3 },
      voters: ["logs-managers-0", "logs-managers-1", "logs-managers-2"],
    };
    const declared = decide(aRoll(all)).intent?.operation;
    expect(declared).toMatchObject({ type: "Remove", node: "logs-managers-2", movesVote: true });
    const voting = decide(aRoll({ ...all, status: { operation: declared } }));
    expect(voting.actions).toEqual([{ kind: "excludeVote", node: "logs-managers-2" }]);
    const still = {
      clusterUuid: "U",
      voters: all.voters,
      exclusions: ["logs-managers-2"],
      elected: "logs-managers-0",
    };
    const stillVoting = decide(
      aRoll({ ...all, engine: { coordination: known(still) }, status: { operation: declared } }),
    );
    expect(stillVoting.intent?.operation?.step).toBe("Vote");
    const left = aRoll({
      ...all,
      engine: {
        coordination: known({
          clusterUuid: "U",
          voters: ["logs-managers-0"],
          exclusions: ["logs-managers-2"],
          elected: "logs-managers-0",
        }),
      },
      status: { operation: declared },
    });
    expect(decide(left).intent?.operation?.step).toBe("Shrink");
    const last = aRoll({
      ...all,
      cluster: aSearchCluster({
        pools: [aPool({ name: "managers", replicas: 0, roles: ["cluster_manager"] })],
      }),
      slots: { managers: 1 },
      voters: ["logs-managers-0"],
    });
    expect(decide(last)).toMatchObject({
      rule: "removalRefused",
      outcome: { why: { reason: "ScaleDownRefused" } },
    });
  });

  test("without a drain, only what has a started copy elsewhere is removed", () => {
    const cluster = { ...managersAndData(3, 2), drainsBeforeRemoval: false };
    const removal = { cluster, slots: { data: 3 } };
    const only = { drains: false };
    expect(
      continued({ ...removal, shards: shardOn("orders", ["logs-data-2"]) }, only).intent?.operation?.step,
    ).toBe("Drain");
    expect(
      continued({ ...removal, shards: shardOn("orders", ["logs-data-2", "logs-data-0"]) }, only).intent
        ?.operation?.step,
    ).toBe("Shrink");
  });
});

describe("the claim of a removed node", () => {
  const own = aVolume("logs-data-2", { engineUuid: "U" });
  const deleting = managersAndData(3, 2);
  const cluster = {
    ...deleting,
    pools: deleting.pools.map((pool) => ({ ...pool, whenScaled: "Delete" as const })),
  };
  const gone: RollChanges = { cluster, seen: { volumes: [own] } };
  const red = known({
    status: "red",
    nodes: 1,
    dataNodes: 1,
    activeShards: 0,
    relocatingShards: 0,
    initializingShards: 0,
    unassignedShards: 1,
    pendingTasks: 0,
  } as const);

  test.for<[string, RollChanges, Partial<Operation>, boolean]>([
    ["[search/SC-71] is deleted where the author says so", gone, {}, true],
    ["stays by default", { ...gone, cluster: deleting }, {}, false],
    ["stays when it is another one than before", gone, { claimUid: "other" }, false],
    [
      "stays when it has data of another cluster",
      { ...gone, seen: { volumes: [{ ...own, engineUuid: "V" }] } },
      {},
      false,
    ],
    [
      "stays when nothing says whose data it has",
      { ...gone, seen: { volumes: [aVolume("logs-data-2")] } },
      {},
      false,
    ],
    ["stays when it was not emptied", gone, { drains: false }, false],
    [
      "goes without a drain when it never held data",
      { ...gone, seen: { volumes: [{ ...own, holdsData: false }] } },
      { drains: false },
      true,
    ],
    ["stays while its pod is there", { ...gone, slots: { data: 3 } }, {}, false],
    ["stays while the health is red", { ...gone, engine: { health: red } }, {}, false],
    [
      "stays while the health is not known",
      { ...gone, engine: { health: { isKnown: false, why: "timeout" } } },
      {},
      false,
    ],
  ])("%s", ([, changes, more, want]) => {
    expect(claimToDelete({ ...operation, ...more }, aRoll(changes)) !== undefined).toBe(want);
  });
});

describe("the end of a removal", () => {
  const gone = (volumes: Seen["volumes"]): LaneDecision =>
    decide(aRoll({ status: { operation: { ...operation, ...drained } }, seen: { volumes } }));

  test("a claim that stays is marked as empty, so that a cluster that comes back does not wait for it", () => {
    const kept = aVolume("logs-data-2", { engineUuid: "U" });
    expect(gone([kept]).actions).toMatchObject([
      {
        kind: "annotateVolume",
        uid: "pvc-logs-data-2",
        annotations: { "search.quartermaster.dev/holds": "nothing" },
      },
    ]);
    const owned = gone([{ ...kept, holdsData: false, holdsManager: false }]);
    expect(owned.actions).toMatchObject([
      { kind: "verifyReleased" },
      { kind: "record", event: { reason: "NodeRemoved" } },
    ]);
    expect(owned.intent).toMatchObject({ operation: undefined });
    expect(gone([aVolume("logs-data-2", { uid: "other", engineUuid: "U" })]).actions).toMatchObject([
      { kind: "verifyReleased" },
      { kind: "record" },
    ]);
  });
});

describe("a pool that is not declared any more", () => {
  test("goes when it has no node left, and not before", () => {
    const seen = aRoll({});
    const withOld = (replicas: number, pods: Seen["pods"]): Seen => ({
      ...seen,
      pods: [...seen.pods, ...pods],
      statefulSets: new Map<string, unknown>([
        ...seen.statefulSets,
        ["old", { metadata: { name: "logs-old", uid: "set-old" }, spec: { replicas } }],
      ]) as unknown as Seen["statefulSets"],
    });
    expect(decide(withOld(0, []))).toMatchObject({
      rule: "removePools",
      actions: [
        { kind: "deletePool", pool: "old", uid: "set-old", statefulSet: "logs-old" },
        { kind: "record" },
      ],
    });
    const [pod] = seen.pods;
    const lingering =
      pod === undefined ? [] : [{ ...pod, name: "logs-old-0", pool: "old", isTerminating: true }];
    expect(decide(withOld(0, lingering)).actions).toEqual([]);
    expect(
      decide(
        withOld(
          0,
          lingering.map((each) => ({ ...each, isReady: false })),
        ),
      ).actions,
    ).toEqual([]);
    expect(decide(withOld(1, [])).actions.filter((action) => action.kind === "deletePool")).toEqual([]);
    expect(decide(withOld(1, lingering)).actions.filter((action) => action.kind === "deletePool")).toEqual(
      [],
    );
  });
});
