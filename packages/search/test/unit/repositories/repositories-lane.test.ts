import { describe, expect, test } from "vitest";

import { clusterSettingsLane, needsSettings } from "../../../src/cluster-settings/cluster-settings-lane.ts";
import { decideLane, type LaneDecision } from "../../../src/lane.ts";
import { clusterReport, laneRecords } from "../../../src/report/cluster-report.ts";
import { needsRepositories, repositoriesLane } from "../../../src/repositories/repositories-lane.ts";
import type { ClusterStatus, Seen } from "../../../src/seen.ts";
import { aSearchCluster } from "../../a-search-cluster.ts";
import { aSeen, engineFacts, known } from "../../support/a-seen.ts";

const now = new Date("2026-11-17T12:00:00Z");
const backup = { name: "backup", type: "fs", settings: { location: "/snapshots" } };
const rate = "indices.recovery.max_bytes_per_sec";

function seenOf(status: Partial<ClusterStatus>, changes: Partial<Seen> = {}): Seen {
  return aSeen({
    cluster: aSearchCluster({ repositories: [backup], dynamicSettings: { [rate]: "20mb" } }),
    status: { clusterUuid: "uuid-1", ...status },
    engine: engineFacts({
      repositories: known([]),
      settings: known({ persistent: {}, transient: {} }),
    }),
    ...changes,
  });
}

const decide = (seen: Seen): readonly [LaneDecision, LaneDecision] => [
  decideLane(repositoriesLane, seen, now),
  decideLane(clusterSettingsLane, seen, now),
];

describe("lanes of repositories and settings", () => {
  test("record first, then write: the first look writes nothing to the engine", () => {
    const first = decide(seenOf({}));
    for (const { actions, outcome } of first) {
      expect(actions).toEqual([]);
      expect(outcome.kind).toBe("waiting");
    }
    const second = decide(seenOf({ ...first[0].intent, ...first[1].intent }));
    expect(second.flatMap(({ actions }) => actions)).toEqual([
      { kind: "keepRepositories", put: ["backup"], verify: [], drop: [] },
      { kind: "keepSettings", put: [rate], drop: [] },
    ]);
  });

  test("what is not known is not empty: nothing is done, nothing is forgotten", () => {
    const recorded = { name: "gone", digests: ["x"] };
    const unknown = { isKnown: false, why: "timeout" } as const;
    const seen = seenOf(
      { repositories: [recorded], clusterSettings: [recorded] },
      { engine: engineFacts({ repositories: unknown, settings: unknown }) },
    );
    for (const decision of decide(seen)) {
      expect(decision).toMatchObject({ actions: [], outcome: { kind: "waiting" } });
      expect(decision.intent).toBeUndefined();
    }
  });

  test("before the cluster has formed, and while it is paused, no one asks and nothing is done", () => {
    for (const seen of [
      aSeen({ cluster: aSearchCluster({ repositories: [backup] }) }),
      seenOf({}, { cluster: aSearchCluster({ repositories: [backup], isPaused: true }) }),
    ]) {
      expect([needsRepositories(seen), needsSettings(seen)]).toEqual([false, false]);
      expect(decide(seen).map(({ outcome, actions }) => [outcome.kind, actions.length])).toEqual([
        ["settled", 0],
        ["settled", 0],
      ]);
    }
  });

  test("a cluster that was founded again gets everything again", () => {
    let status: Partial<ClusterStatus> = {};
    for (const _ of [1, 2]) status = { ...status, ...decide(seenOf(status))[0].intent };
    const registered = seenOf(status, { engine: engineFacts({ repositories: known([backup]) }) });
    status = { ...status, ...decideLane(repositoriesLane, registered, now).intent };
    expect(needsRepositories(seenOf(status))).toBe(false);
    expect(needsRepositories(seenOf({ ...status, clusterUuid: "uuid-2" }))).toBe(true);
  });

  test("records stay in the status while no lane decides, as while the spec is invalid", () => {
    const status = { repositories: [{ name: "backup", digests: ["x"] }] };
    expect(clusterReport(seenOf(status), [], now)).toMatchObject(status);
    expect(laneRecords["repositories"]?.(status)).toEqual(status);
    const decided = decide(seenOf(status));
    expect(clusterReport(seenOf(status), decided, now)).not.toHaveProperty("repositories");
  });
});
