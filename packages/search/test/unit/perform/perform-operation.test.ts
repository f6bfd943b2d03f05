import { openSearchCluster } from "@quartermaster/api";
import type { JsonObject, KubeObject } from "@quartermaster/runtime";
import {
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  type Pod,
  pods,
  services,
} from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import type { EngineShard } from "../../../src/engine/engine-facts.ts";
import type { OperationAction, SearchAction } from "../../../src/search-action.ts";
import type { ClusterStatus } from "../../../src/seen.ts";
import { type BenchOptions, type PerformBench, performBench } from "../../support/perform-bench.ts";
import { performed, type PerformRow, wanted } from "../../support/perform-rows.ts";

type Operation = NonNullable<ClusterStatus["operation"]>;

const frozenBy = "cluster.metadata.quartermaster_frozen_by";
const excludedSetting = "cluster.metadata.quartermaster_excluded";
const enable = "cluster.routing.allocation.enable";
const excluded = "cluster.routing.allocation.exclude._name";

function removal(node: string, changes: Partial<Operation> = {}): Operation {
  return {
    id: "remove-1",
    type: "Remove",
    node,
    pool: "nodes",
    podUid: `uid-pod-${node}`,
    claimUid: `uid-claim-${node}`,
    cause: "replicas",
    startedAt: "2026-11-17T23:00:00Z",
    step: "Shrink",
    drains: true,
    drainedAt: "2026-11-17T23:10:00Z",
    ...changes,
  };
}

/** The last of so many nodes is drained, has no vote any more, and its place is to go. */
function drained(nodes: number): BenchOptions {
  const last = `logs-nodes-${String(nodes - 1)}`;
  return {
    pools: { nodes: nodes - 1 },
    slots: { nodes },
    status: { operation: removal(last) },
    engine: {
      voters: names(nodes - 1),
      exclusions: [last],
      persistent: { [excluded]: last, [excludedSetting]: last },
    },
  };
}

/** The last of so many nodes is removed, and its claim is left. */
function removed(nodes: number): BenchOptions {
  const last = `logs-nodes-${String(nodes - 1)}`;
  return {
    pools: { nodes: nodes - 1 },
    claims: [last],
    spec: {
      pool: { persistence: { pvc: {} } },
      general: { persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete" } },
    },
    status: { operation: removal(last, { step: "Release" }) },
  };
}

const foreignService = {
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: "logs-old",
    namespace: "team",
    ownerReferences: [{ apiVersion: "v1", kind: "Other", name: "x", uid: "x", controller: true }],
  },
};

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, ordinal) => `logs-nodes-${String(ordinal)}`);
}

const last = "logs-nodes-2";

function shrinkTo(to: number): SearchAction {
  return {
    kind: "shrinkPool",
    operation: "remove-1",
    pool: "nodes",
    uid: "uid-set-logs-nodes",
    to,
    podUid: `uid-pod-logs-nodes-${String(to)}`,
  };
}

function claimOf(node: string): SearchAction {
  return { kind: "deleteClaim", operation: "remove-1", node, name: `data-${node}`, uid: `uid-claim-${node}` };
}

/** The last of so many nodes is to be restarted, and allocation is frozen for it. */
function frozen(nodes: number): BenchOptions {
  const node = `logs-nodes-${String(nodes - 1)}`;
  return {
    pools: { nodes },
    outdated: [node],
    status: {
      operation: {
        id: "restart-1",
        type: "Restart",
        node,
        pool: "nodes",
        podUid: `uid-pod-${node}`,
        cause: "config",
        startedAt: "2026-11-17T23:00:00Z",
        step: "Prepare",
      },
    },
    engine: {
      persistent: { [enable]: "primaries", [frozenBy]: "restart-1" },
      // Of an even number one has no vote, as engines have it.
      voters: names(nodes % 2 === 0 ? nodes - 1 : nodes),
    },
  };
}

function restartOf(nodes: number): SearchAction {
  const node = `logs-nodes-${String(nodes - 1)}`;
  return { kind: "deletePod", operation: "restart-1", node, uid: `uid-pod-${node}` };
}

const dropPool: SearchAction = {
  kind: "deletePool",
  pool: "old",
  uid: "uid-set-logs-old",
  statefulSet: "logs-old",
  service: "logs-old",
  config: "logs-old-config",
};
const dropped: BenchOptions = { pools: { nodes: 3 }, slots: { old: 0 } };
const dropWrites = [
  "delete Service team/logs-old (uid, resourceVersion)",
  "delete ConfigMap team/logs-old-config (uid, resourceVersion)",
  "delete StatefulSet team/logs-old (uid, resourceVersion)",
];

/** Every action of an operation has rows: the type says which are missing. */
const rows: Readonly<Record<OperationAction["kind"], readonly PerformRow[]>> = {
  shrinkPool: [2, 3, 4].map((nodes) => ({
    name: `takes the last of ${String(nodes)} places away with uid and resourceVersion of the StatefulSet`,
    given: drained(nodes),
    action: shrinkTo(nodes - 1),
    want: ["patch StatefulSet team/logs-nodes (uid, resourceVersion)"],
  })),
  deleteClaim: [2, 3, 4].map((nodes) => ({
    name: `deletes the claim of the last of ${String(nodes)} nodes with uid and resourceVersion`,
    given: removed(nodes),
    action: claimOf(`logs-nodes-${String(nodes - 1)}`),
    want: [`delete PersistentVolumeClaim team/data-logs-nodes-${String(nodes - 1)} (uid, resourceVersion)`],
  })),
  deletePod: [3, 4].map((nodes) => ({
    name: `restarts one of ${String(nodes)} nodes with uid and resourceVersion of its pod`,
    given: frozen(nodes),
    action: restartOf(nodes),
    want: [`delete Pod team/logs-nodes-${String(nodes - 1)} (uid, resourceVersion)`],
  })),
  deletePool: [
    {
      name: "deletes what a pool had before the StatefulSet by which the next reconcile finds it",
      given: dropped,
      action: dropPool,
      want: dropWrites,
    },
    {
      name: "leaves a Service of the name that another object controls",
      given: { ...dropped, objects: [{ kind: services, object: foreignService }] },
      action: dropPool,
      want: dropWrites.slice(1),
    },
  ],
  freezeAllocation: [
    {
      name: "freezes allocation before it flushes",
      action: { kind: "freezeAllocation", operation: "restart-1" },
      want: [`engine putSettings ${frozenBy},${enable}`, "engine flush"],
    },
    {
      name: "has frozen allocation although the flush is refused",
      given: { engine: { refuses: { flush: "unavailable" } } },
      action: { kind: "freezeAllocation", operation: "restart-1" },
      want: [`engine putSettings ${frozenBy},${enable}`, "engine flush"],
    },
  ],
  excludeNode: [
    {
      name: "excludes a node beside one that another client excluded",
      given: { engine: { persistent: { [excluded]: "theirs" } } },
      action: { kind: "excludeNode", node: last },
      want: [`engine putSettings ${excludedSetting},${excluded}`],
    },
    {
      name: "writes nothing for a node that is excluded",
      given: { engine: { transient: { [excluded]: `theirs, ${last}` } } },
      action: { kind: "excludeNode", node: last },
      want: [],
    },
  ],
  releaseAllocation: [
    {
      name: "takes a node out of both lists of exclusions",
      given: {
        engine: {
          persistent: { [excluded]: `theirs,${last}`, [excludedSetting]: last },
          transient: { [excluded]: `${last},other` },
        },
      },
      action: { kind: "releaseAllocation" },
      want: [`engine putSettings ${excludedSetting},${excluded},${excluded}`],
    },
    {
      name: "writes nothing where nothing is ours",
      given: { engine: { persistent: { [excluded]: "theirs", [enable]: "none" } } },
      action: { kind: "releaseAllocation" },
      want: [],
    },
  ],
  excludeVote: [
    {
      name: "takes one vote",
      action: { kind: "excludeVote", node: last },
      want: [`engine excludeVotes ${last}`],
    },
  ],
  clearVotes: [
    {
      name: "clears the exclusions when all are ours",
      given: { engine: { exclusions: [last] } },
      action: { kind: "clearVotes", ours: [last] },
      want: ["engine clearVoteExclusions"],
    },
    {
      name: "clears none while one of two is of another client",
      given: { engine: { exclusions: [last, "theirs"] } },
      action: { kind: "clearVotes", ours: [last] },
      want: [],
      fails: "invalid",
    },
    {
      name: "writes nothing without exclusions",
      action: { kind: "clearVotes", ours: [last] },
      want: [],
    },
  ],
  verifyReleased: [
    { name: "ends when nothing is left", action: { kind: "verifyReleased", node: last }, want: [] },
    {
      name: "removes an exclusion that is left, and is not the end",
      given: { engine: { exclusions: [last] } },
      action: { kind: "verifyReleased", node: last },
      want: ["engine clearVoteExclusions"],
      fails: "conflict",
    },
    {
      name: "removes settings that are left, and is not the end",
      given: { engine: { persistent: { [excluded]: last, [excludedSetting]: last } } },
      action: { kind: "verifyReleased", node: last },
      want: [`engine putSettings ${excludedSetting},${excluded}`],
      fails: "conflict",
    },
    {
      name: "removes votes before settings where both are left",
      given: { engine: { exclusions: [last], persistent: { [excluded]: last, [excludedSetting]: last } } },
      action: { kind: "verifyReleased", node: last },
      want: ["engine clearVoteExclusions", `engine putSettings ${excludedSetting},${excluded}`],
      fails: "conflict",
    },
  ],
  verifySlot: [
    {
      name: "passes while there is a place",
      action: { kind: "verifySlot", pool: "nodes", ordinal: 2 },
      want: [],
    },
    {
      name: "fails right above the last place",
      action: { kind: "verifySlot", pool: "nodes", ordinal: 3 },
      want: [],
      fails: "conflict",
    },
    {
      name: "fails without a StatefulSet",
      action: { kind: "verifySlot", pool: "gone", ordinal: 0 },
      want: [],
      fails: "conflict",
    },
  ],
};

describe("a step of an operation", () => {
  test.each(Object.values(rows).flat())("$name", async (row) => {
    expect(await performed(row)).toEqual(wanted(row));
  });
});

type Meanwhile = (bench: PerformBench) => void;

/** The cluster's object as another client left it. */
function edits(change: (object: JsonObject) => object): Meanwhile {
  return ({ api }) => {
    const live = api.read(openSearchCluster.kind, ref);
    if (live !== undefined)
      api.put(openSearchCluster.kind, change(live as unknown as JsonObject) as KubeObject);
  };
}

const ref = { namespace: "team", name: "logs" };
const spec = (changes: object): Meanwhile =>
  edits((object) => ({ ...object, spec: { ...(object["spec"] as object), ...changes } }));
const metadata = (changes: object): Meanwhile =>
  edits((object) => ({ ...object, metadata: { ...(object["metadata"] as object), ...changes } }));
const theirs: EngineShard = { index: "logs", shard: 0, isPrimary: true, state: "STARTED", node: last };

const meanwhile: readonly { readonly name: string; readonly act: Meanwhile }[] = [
  {
    name: "the cluster was deleted",
    act: ({ api }) => {
      api.remove(openSearchCluster.kind, ref);
    },
  },
  { name: "the cluster is being deleted", act: metadata({ deletionTimestamp: "2026-11-18T00:00:00Z" }) },
  { name: "the cluster was created again", act: metadata({ uid: "another" }) },
  { name: "the cluster was paused", act: spec({ operations: { paused: true } }) },
  {
    name: "the node is declared again",
    act: spec({
      nodePools: [{ component: "nodes", replicas: 3, diskSize: "1Gi", roles: ["cluster_manager", "data"] }],
    }),
  },
  {
    name: "the operation is over",
    act: edits((object) => ({ ...object, status: { clusterUuid: "U", version: "2.19.4" } })),
  },
  {
    name: "another operation took its place",
    act: edits((object) => ({
      ...object,
      status: { clusterUuid: "U", version: "2.19.4", operation: removal(last, { id: "remove-2" }) },
    })),
  },
  {
    name: "a shard is on the node",
    act: ({ engine }) => {
      engine.change({ shards: [theirs] });
    },
  },
  {
    name: "the node has its vote back",
    act: ({ engine }) => {
      engine.change({ voters: names(3) });
    },
  },
  {
    name: "another node went away",
    act: ({ engine }) => {
      const { "logs-nodes-0": _gone, ...members } = engine.state.members;
      engine.change({ members });
    },
  },
  {
    name: "the engine does not respond",
    act: ({ engine }) => {
      engine.change({ silent: ["coordination"] });
    },
  },
];

describe("a place is not taken away when, since it was decided,", () => {
  test.each(meanwhile)("$name", async ({ act }) => {
    const bench = await performBench(drained(3));
    act(bench);
    await expect(bench.run(shrinkTo(2))).rejects.toMatchObject({ code: "conflict" });
    expect(bench.api.writes).toEqual([]);
  });
});

const ownClaim = { namespace: "team", name: `data-${last}` };

describe("a claim is not deleted when, since it was decided,", () => {
  test.each<{ readonly name: string; readonly act: Meanwhile }>([
    // One that is declared again gets a new claim: what was on this one was moved away.
    ...meanwhile.slice(0, 7).filter(({ name }) => name !== "the node is declared again"),
    {
      name: "it was created again",
      act: ({ api }) => {
        api.interfere(
          { verb: "delete", kind: "PersistentVolumeClaim", name: `team/data-${last}` },
          "replace",
        );
      },
    },
    {
      name: "it was given data of another cluster",
      act: ({ api }) => {
        const live = api.read<PersistentVolumeClaim>(persistentVolumeClaims, ownClaim);
        if (live === undefined) return;
        const annotations = { ...live.metadata.annotations, "search.quartermaster.dev/engine-uuid": "V" };
        api.put(persistentVolumeClaims, { ...live, metadata: { ...live.metadata, annotations } });
      },
    },
    {
      name: "a pod of the name is back",
      act: ({ api }) => {
        const pod = api.read<Pod>(pods, { namespace: "team", name: "logs-nodes-0" });
        if (pod !== undefined)
          api.put(pods, { ...pod, metadata: { ...pod.metadata, name: last, uid: "back" } });
      },
    },
    {
      name: "the health is red",
      act: ({ engine }) => {
        engine.change({ isRed: true });
      },
    },
  ])("$name", async ({ act }) => {
    const bench = await performBench(removed(3));
    act(bench);
    await expect(bench.run(claimOf(last))).rejects.toMatchObject({ code: "conflict" });
    expect(bench.api.writes).toEqual([]);
  });
});
