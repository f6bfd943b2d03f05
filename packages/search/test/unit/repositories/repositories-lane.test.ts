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

describe("[search/SC-125] what another client changes in the engine", () => {
  /** Everything declared is there, tried and recorded. */
  function settledStatus(): Partial<ClusterStatus> {
    const engine = engineFacts({
      repositories: known([backup]),
      settings: known({ persistent: { [rate]: "20mb" }, transient: {} }),
    });
    let status: Partial<ClusterStatus> = {};
    for (const each of [undefined, engine, engine]) {
      const decisions = decide(seenOf(status, each === undefined ? {} : { engine: each }));
      status = { ...status, ...decisions[0].intent, ...decisions[1].intent };
    }
    expect([needsRepositories(seenOf(status)), needsSettings(seenOf(status))]).toEqual([false, false]);
    return status;
  }

  function found(
    repositories: readonly (typeof backup)[],
    persistent: Record<string, string>,
  ): Partial<Seen> {
    return {
      engine: engineFacts({
        repositories: known(repositories),
        settings: known({ persistent, transient: {} }),
      }),
    };
  }

  test("all is as declared: nothing is done and nothing is reported", () => {
    const seen = seenOf(settledStatus(), found([backup], { [rate]: "20mb" }));
    for (const { actions, outcome } of decide(seen)) {
      expect(actions).toEqual([]);
      expect(outcome.kind).toBe("settled");
    }
  });

  test("deleted entries and a changed setting are written again, with an event", () => {
    const seen = seenOf(settledStatus(), found([], { [rate]: "1mb" }));
    const [repositories, settings] = decide(seen);
    expect(repositories.actions).toMatchObject([
      { kind: "keepRepositories", put: ["backup"] },
      { kind: "record", event: { reason: "EngineDrift" } },
    ]);
    expect(settings.actions).toMatchObject([
      { kind: "keepSettings", put: [rate] },
      { kind: "record", event: { reason: "EngineDrift" } },
    ]);
    // From then on the engine is queried until it is as declared, whatever becomes of the writes.
    for (const intent of ["intent", "intentIfFailed"] as const) {
      const status = { ...seen.status, ...repositories[intent], ...settings[intent] };
      expect([needsRepositories(seenOf(status)), needsSettings(seenOf(status))]).toEqual([true, true]);
    }
  });

  test("a changed repository holds another client's snapshots: it is reported until that is resolved", () => {
    const other = { ...backup, settings: { location: "/elsewhere" } };
    const seen = seenOf(settledStatus(), found([other], { [rate]: "20mb" }));
    const recorded = { ...seen.status, ...decide(seen)[0].intent };
    expect(needsRepositories(seenOf(recorded))).toBe(true);
    const [repositories] = decide({ ...seen, status: recorded });
    expect(repositories).toMatchObject({
      actions: [],
      outcome: { kind: "stalled", why: { reason: "RepositoryConflict" } },
    });
    expect(needsRepositories(seenOf({ ...recorded, ...repositories.intent }))).toBe(true);
  });

  test("what is not known is not drift", () => {
    const unknown = { isKnown: false, why: "too old" } as const;
    const engine = engineFacts({ repositories: unknown, settings: unknown });
    for (const decision of decide(seenOf(settledStatus(), { engine })))
      expect(decision).toMatchObject({ actions: [], outcome: { kind: "settled" } });
  });
});
