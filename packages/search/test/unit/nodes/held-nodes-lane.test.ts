import { describe, expect, test } from "vitest";

import { decideLane, type LaneDecision } from "../../../src/lane.ts";
import { heldNodesLane } from "../../../src/nodes/held-nodes-lane.ts";
import type { Operation } from "../../../src/operation/operation.ts";
import { searchRules } from "../../../src/rules.ts";
import type { Seen } from "../../../src/seen.ts";
import { aSearchCluster } from "../../a-search-cluster.ts";
import { aRoll, managersAndData, type RollChanges } from "../../support/a-roll.ts";
import { engineFacts, known } from "../../support/a-seen.ts";

const now = new Date("2026-11-17T10:00:00Z");
const node = "logs-data-1";
const restart: Operation = {
  id: "restart-1",
  type: "Restart",
  pool: "data",
  node,
  podUid: `uid-${node}`,
  cause: "a test",
  step: "Prepare",
  startedAt: "2026-11-17T09:59:00Z",
};
const away: Operation = { ...restart, step: "Await", awaitingSince: "2026-11-17T09:59:30Z" };
const late: Operation = { ...away, awaitingSince: "2026-11-17T09:54:00Z" };
const remove: Operation = { ...restart, id: "remove-1", type: "Remove", step: "Drain", drains: true };
const shrink: Operation = { ...remove, step: "Shrink" };

const frozen = known({
  persistent: {
    "cluster.routing.allocation.enable": "primaries",
    "cluster.metadata.quartermaster_frozen_by": "restart-1",
  },
  transient: {},
});
const excluded = known({
  persistent: {
    "cluster.routing.allocation.exclude._name": node,
    "cluster.metadata.quartermaster_excluded": node,
  },
  transient: {},
});
const voteless = known({
  clusterUuid: "U",
  voters: ["logs-managers-0"],
  exclusions: [node],
  elected: "logs-managers-0",
});

interface Case {
  readonly operation: Operation;
  readonly given?: RollChanges;
  readonly pod?: "gone" | "another" | "terminating";
  readonly actions: readonly string[];
  /** Step that is recorded; undefined: the operation is over. */
  readonly step: Operation["step"] | undefined;
}

const cases: Readonly<Record<string, Case>> = {
  "a restart that has not begun gives allocation back": {
    operation: restart,
    given: { engine: { settings: frozen } },
    actions: ["releaseAllocation"],
    step: "Release",
  },
  "a vote that was moved is given back first": {
    operation: restart,
    given: { engine: { settings: frozen, coordination: voteless } },
    actions: ["clearVotes", "releaseAllocation"],
    step: "Release",
  },
  "with nothing left in the engine it is over, once the engine itself says so": {
    operation: { ...restart, step: "Release" },
    actions: ["verifyReleased"],
    step: undefined,
  },
  "an engine that says nothing is waited for": {
    operation: restart,
    given: { engine: engineFacts() },
    actions: [],
    step: "Release",
  },
  "a pod on its way out is waited for": {
    operation: restart,
    pod: "terminating",
    actions: [],
    step: "Await",
  },
  "its successor is waited for with allocation as it is": {
    operation: away,
    given: { down: [node], engine: { settings: frozen } },
    pod: "another",
    actions: [],
    step: "Await",
  },
  "after five minutes copies are rebuilt elsewhere": {
    operation: late,
    given: { down: [node], engine: { settings: frozen } },
    pod: "gone",
    actions: ["releaseAllocation"],
    step: "Await",
  },
  "with its successor up allocation is given back": {
    operation: away,
    given: { engine: { settings: frozen } },
    pod: "another",
    actions: ["releaseAllocation"],
    step: "Await",
  },
  "and the restart is over": {
    operation: away,
    pod: "another",
    actions: ["verifyReleased", "record"],
    step: undefined,
  },
  "a pod that is not to come back is not waited for": {
    operation: away,
    given: { slots: { data: 1 }, down: [node] },
    pod: "gone",
    actions: ["verifyReleased", "record"],
    step: undefined,
  },
  "a drain is withdrawn": {
    operation: remove,
    given: { engine: { settings: excluded } },
    actions: ["releaseAllocation"],
    step: "Release",
  },
  "at its last step only if the place is really still there": {
    operation: shrink,
    given: { engine: { settings: excluded } },
    actions: ["verifySlot", "releaseAllocation"],
    step: "Release",
  },
  "also with nothing left in the engine": {
    operation: shrink,
    actions: ["verifySlot", "verifyReleased"],
    step: undefined,
  },
  "without its place the node keeps its exclusion until its pod is gone": {
    operation: shrink,
    given: { slots: { data: 1 }, engine: { settings: excluded } },
    actions: [],
    step: "Await",
  },
  "and until the cluster has let it go": {
    operation: shrink,
    given: { slots: { data: 1 }, engine: { settings: excluded } },
    pod: "gone",
    actions: [],
    step: "Await",
  },
  "then the exclusion is taken back": {
    operation: shrink,
    given: { slots: { data: 1 }, down: [node], engine: { settings: excluded } },
    pod: "gone",
    actions: ["releaseAllocation"],
    step: "Release",
  },
  "what becomes of its claim waits for the spec": {
    operation: shrink,
    given: { slots: { data: 1 }, down: [node] },
    pod: "gone",
    actions: [],
    step: "Release",
  },
};

function seenOf({ operation, given = {}, pod }: Case): Seen {
  const seen = aRoll({ outdated: [node, "logs-data-0"], ...given, status: { operation } });
  const pods = seen.pods.flatMap((each) => {
    if (each.name !== node || pod === undefined) return [each];
    if (pod === "gone") return [];
    return [pod === "another" ? { ...each, uid: "new" } : { ...each, isTerminating: true }];
  });
  return { ...seen, pods };
}

/** What is done, and the step that is recorded. */
function decided(seen: Seen): Pick<Case, "actions" | "step"> {
  const { actions, intent }: LaneDecision = decideLane(heldNodesLane, seen, now);
  return { actions: actions.map((action) => action.kind), step: intent?.operation?.step };
}

describe("the open operation of a cluster that is held", () => {
  test.for(Object.entries(cases))("%s", ([, want]) => {
    expect(decided(seenOf(want))).toEqual({ actions: want.actions, step: want.step });
  });

  test.for(Object.entries(cases))("with a spec that says nothing: %s", ([, want]) => {
    const seen = { ...seenOf(want), cluster: aSearchCluster({ pools: [] }) };
    expect(decided(seen)).toEqual({ actions: want.actions, step: want.step });
  });

  test("without an operation nothing is done", () => {
    const seen = aRoll({ outdated: [node] });
    expect(decideLane(heldNodesLane, seen, now)).toMatchObject({ actions: [], outcome: { kind: "settled" } });
  });
});

describe("who holds a cluster", () => {
  const frozenRestart = aRoll({
    outdated: [node],
    engine: { settings: frozen },
    status: { operation: restart },
  });
  const holds: Readonly<Record<string, Seen>> = {
    Paused: { ...frozenRestart, cluster: { ...managersAndData(3, 2), isPaused: true } },
    InvalidSpec: {
      ...frozenRestart,
      issues: [{ path: "spec.nodePools", reason: "InvalidSpec", message: "is empty" }],
    },
    NameClash: { ...frozenRestart, takenNames: ["Service logs"] },
  };

  function verdictOf(seen: Seen): ReturnType<(typeof searchRules)[number]["decide"]> {
    for (const rule of searchRules) {
      const verdict = rule.decide(seen, now);
      if (verdict !== undefined) return verdict;
    }
    return undefined;
  }

  test.for(Object.entries(holds))(
    "%s: the operation is wound up, and nothing else is done to nodes",
    ([reason, seen]) => {
      const verdict = verdictOf(seen);
      const nodes = verdict?.lanes?.find(({ name }) => name === "nodes");
      expect(nodes?.actions).toEqual([{ kind: "releaseAllocation" }]);
      expect(nodes?.status).toMatchObject({ operation: { id: "restart-1", step: "Release" } });
      expect(nodes?.statusIfFailed).toMatchObject({ operation: { id: "restart-1", step: "Prepare" } });
      expect(verdict?.status).not.toHaveProperty("operation");
      expect(verdict?.outcome).toMatchObject({ why: { reason } });
      const others = (verdict?.lanes ?? []).filter(({ name }) => name !== "nodes" && name !== "certificates");
      expect(others.map(({ name, actions }) => ({ name, actions }))).toEqual([
        { name: "protection", actions: [] },
      ]);
    },
  );

  test.for(Object.entries(holds))("%s without an operation: nodes are left alone", ([, seen]) => {
    const verdict = verdictOf({ ...seen, status: { clusterUuid: "U" } });
    expect((verdict?.lanes ?? []).flatMap(({ name, actions }) => (name === "nodes" ? actions : []))).toEqual(
      [],
    );
  });
});
