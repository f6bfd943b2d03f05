import { describe, expect, test } from "vitest";

import type { EngineFacts } from "../../../src/engine/engine-facts.ts";
import { decideLane, type LaneDecision } from "../../../src/lane.ts";
import { nodesLane } from "../../../src/nodes/nodes-lane.ts";
import type { Operation } from "../../../src/operation/operation.ts";
import { aRoll, shardOn } from "../../support/a-roll.ts";
import { known } from "../../support/a-seen.ts";

const goes = "logs-data-2";
const nodes = ["logs-data-0", "logs-data-1", goes];
const seenEmptyAt = Date.parse("2026-11-17T10:00:00Z");
const unknown = { isKnown: false, why: "timeout" } as const;

/** The truth: a copy is on the node that goes. Each source tells it, lies, or says nothing. */
const tables = {
  true: known(shardOn("orders", ["logs-data-0", goes])),
  empty: known([]),
  unknown,
} as const;

function loads(shards: number, documents: number): EngineFacts["nodeLoad"] {
  const rest = {
    storeBytes: 0,
    diskTotalBytes: 1000,
    diskFreeBytes: 900,
    heapPercent: 1,
    cpuPercent: 1,
    searchQueue: 0,
    writeRejections: 0,
  };
  return known(nodes.map((node) => ({ node, shards, documents, ...rest })));
}

const statistics = {
  true: loads(1, 5),
  empty: loads(0, 0),
  "no shards, yet documents": loads(0, 5),
  "not of this node": known([]),
  unknown,
} as const;

const operation: Operation = {
  id: "remove-1",
  type: "Remove",
  pool: "data",
  node: goes,
  podUid: `uid-${goes}`,
  claimUid: `pvc-${goes}`,
  cause: "test",
  step: "Drain",
  drains: true,
  startedAt: "2026-11-17T09:50:00Z",
};

interface Lie {
  readonly table: keyof typeof tables;
  readonly statistics: keyof typeof statistics;
}

const lies: readonly Lie[] = (Object.keys(tables) as (keyof typeof tables)[]).flatMap((table) =>
  (Object.keys(statistics) as (keyof typeof statistics)[]).map((each) => ({ table, statistics: each })),
);

function decide(lie: Lie, record: Partial<Operation>, nowMs: number): LaneDecision {
  const settings = known({
    persistent: {
      "cluster.routing.allocation.exclude._name": goes,
      "cluster.metadata.quartermaster_excluded": goes,
    },
    transient: {},
  });
  const seen = aRoll({
    slots: { data: 3 },
    engine: { settings, shards: tables[lie.table], nodeLoad: statistics[lie.statistics] },
    status: { operation: { ...operation, ...record } },
  });
  return decideLane(nodesLane, seen, new Date(nowMs));
}

/** The record of a node that was seen empty at a time. */
const emptied = { shardsLeft: 0, drainedAt: "2026-11-17T10:00:00Z" };

describe("[security/77] an engine that says there are no shards", () => {
  test.for(lies)("table $table, statistics $statistics", (lie) => {
    const isProven = lie.table === "empty" && lie.statistics === "empty";
    // Even with the intent written: the write itself is decided on what is read then.
    for (const step of ["Drain", "Shrink"] as const) {
      const later = decide(lie, { ...emptied, step }, seenEmptyAt + 60_000);
      expect(later.actions.some((action) => action.kind === "shrinkPool")).toBe(
        isProven && step === "Shrink",
      );
      expect(later.intent?.operation?.step === "Shrink").toBe(isProven);
    }
  });

  test.for([
    ["seen for the first time", {}, 0, "Drain"],
    ["again too soon", emptied, 4_999, "Drain"],
    ["again 5 s later", emptied, 5_000, "Shrink"],
  ] as const)("by both sources, %s: %s", ([, record, afterMs, step]) => {
    const both: Lie = { table: "empty", statistics: "empty" };
    const decision = decide(both, record, seenEmptyAt + afterMs);
    expect(decision.intent?.operation?.step).toBe(step);
    expect(decision.actions).toEqual([]);
  });
});
