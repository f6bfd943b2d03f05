import { describe, expect, test } from "vitest";

import type { EngineLicense, Fact } from "../../src/engine/engine-facts.ts";
import { decideLane, type LaneDecision } from "../../src/lane.ts";
import { licenseLane } from "../../src/license/license-lane.ts";
import { licenseReport } from "../../src/license/license-report.ts";
import {
  needsLicense,
  type LicenseSeen,
  NO_LICENSE,
  type WantedLicense,
} from "../../src/license/observe-license.ts";
import type { Seen } from "../../src/seen.ts";
import { anElasticsearch } from "../a-search-cluster.ts";
import { aSeen, engineFacts, known } from "../support/a-seen.ts";

const minute = 60_000;
const startMs = Date.UTC(2025, 5, 1);
const gold: EngineLicense = {
  uid: "gold-1",
  type: "gold",
  status: "active",
  expiryMs: startMs + 1000 * minute,
  maxNodes: 10,
};
const basic: EngineLicense = { ...gold, uid: "b", type: "basic", expiryMs: undefined };
const wanted: WantedLicense = {
  name: "docs",
  uid: "gold-1",
  type: "gold",
  startMs: startMs - minute,
  expiryMs: startMs + 1000 * minute,
  digest: "d1",
  file: {},
};
const present: Partial<LicenseSeen> = { wanted, clusterLicense: "docs" };
const willing: Partial<LicenseSeen> = { revertsToBasic: true, allowsDowngrade: true };

interface Observation {
  readonly atMinute: number;
  readonly license?: Partial<LicenseSeen>;
  /** What the engine says when it is queried (default: gold). */
  readonly engine?: EngineLicense;
}

/** A cluster in time. All that it remembers from one look to the next is its status: each look could follow a restart. */
class Life {
  status: Seen["status"] = {};
  readonly requested: number[] = [];

  sample({ atMinute, license = {}, engine = gold }: Observation): LaneDecision {
    const now = new Date(startMs + atMinute * minute);
    const cluster = anElasticsearch("7.17.28");
    const seenLicense = { ...NO_LICENSE, ...willing, ...license };
    const isRequested = needsLicense(cluster, seenLicense, { status: this.status, nowMs: now.getTime() });
    if (isRequested) this.requested.push(atMinute);
    const fact: Fact<EngineLicense> = isRequested ? known(engine) : { isKnown: false, why: "not asked" };
    const seen = aSeen({
      cluster,
      status: this.status,
      license: seenLicense,
      engine: engineFacts({ license: fact }),
    });
    const decision = decideLane(licenseLane, seen, now);
    const report = licenseReport(seen, decision, now);
    this.status = report === undefined ? {} : { license: report };
    return decision;
  }
}

function lived(observations: readonly Observation[]): {
  readonly life: Life;
  readonly last: LaneDecision | undefined;
} {
  const life = new Life();
  const last = observations.map((sample) => life.sample(sample)).at(-1);
  return { life, last };
}

describe("a ClusterLicense that vanished, with RevertToBasic", () => {
  test("gives way to basic after 15 minutes, whatever restarts in between, and the engine is queried first", () => {
    const life = new Life();
    life.sample({ atMinute: 0, license: present });
    expect(life.status.license).toMatchObject({ state: "Applied", clusterLicense: "docs" });
    for (const atMinute of [1, 5, 15.9]) {
      const { rule, actions, outcome } = life.sample({ atMinute });
      expect({ rule, actions, kind: outcome.kind }).toEqual({
        rule: "reverts",
        actions: [],
        kind: "waiting",
      });
    }
    expect(life.status.license).toMatchObject({ lostSince: "2025-06-01T00:01:00Z", reason: "LicenseLost" });
    expect(life.requested).toEqual([0]);
    expect(life.sample({ atMinute: 16 }).actions).toEqual([
      {
        kind: "startLicense",
        type: "basic",
        digest: "start basic",
        from: { uid: "gold-1", isLost: true },
      },
    ]);
    expect(life.requested).toEqual([0, 16]);
    // The response, or the status after it, was lost: the engine is queried again, and nothing else follows.
    const { actions } = life.sample({ atMinute: 17, engine: basic });
    expect({ actions, license: life.status.license }).toEqual({
      actions: [],
      license: { uid: "b", type: "basic", state: "Applied" },
    });
  });

  test("[licensing/X9] and came back within 15 minutes: nothing is sent, and the next time begins again", () => {
    const { life, last } = lived([
      { atMinute: 0, license: present },
      { atMinute: 1 },
      { atMinute: 14, license: present },
    ]);
    expect({ rule: last?.rule, actions: last?.actions }).toEqual({ rule: "alreadyRuns", actions: [] });
    expect(life.status.license).not.toHaveProperty("lostSince");
    expect(life.sample({ atMinute: 20 }).rule).toBe("reverts");
    expect(life.status.license?.lostSince).toBe("2025-06-01T00:20:00Z");
  });

  test("its Secret first, as the license controller deletes them: it counts as lost all the same", () => {
    const problem = { reason: "SignatureMissing", message: "Secret docs does not exist." };
    const { life } = lived([
      { atMinute: 0, license: present },
      { atMinute: 1, license: { problem, clusterLicense: "docs" } },
      { atMinute: 2 },
    ]);
    expect(life.status.license).toMatchObject({ clusterLicense: "docs", lostSince: "2025-06-01T00:02:00Z" });
  });

  test.each<{ readonly name: string; readonly license: Partial<LicenseSeen>; readonly want: object }>([
    {
      name: "is kept where no lower type is permitted",
      license: { allowsDowngrade: false },
      want: { rule: "reverts", outcome: { why: { reason: "DowngradeNotAllowed" } } },
    },
    {
      name: "is kept where no one requests basic",
      license: { revertsToBasic: false },
      want: { rule: "nothingAsked" },
    },
    {
      name: "is kept where the label requests a type",
      license: { desired: "gold" },
      want: { rule: "wrongType" },
    },
    {
      name: "is not lost while a ClusterLicense is there that the controller is about to replace",
      license: { clusterLicense: "docs-pool" },
      want: { rule: "nothingAsked" },
    },
  ])("$name", ({ license, want }) => {
    const { last } = lived([
      { atMinute: 0, license: present },
      { atMinute: 1, license },
      { atMinute: 60, license },
    ]);
    expect(last).toMatchObject({ ...want, actions: [] });
  });

  test("waits its 15 minutes also when the clock was set back since", () => {
    const { life, last } = lived([
      { atMinute: 0, license: present },
      { atMinute: 600 },
      { atMinute: 60 },
      { atMinute: 74 },
    ]);
    expect(last?.actions).toEqual([]);
    expect(life.sample({ atMinute: 75 }).actions).toHaveLength(1);
  });
});

describe("a license that has ended, with RevertToBasic", () => {
  const ended: EngineLicense = { ...gold, status: "expired", expiryMs: startMs };
  const past: WantedLicense = { ...wanted, expiryMs: startMs };
  const next: WantedLicense = { ...wanted, name: "next", uid: "gold-2", digest: "d2" };
  const problem = { reason: "SignatureMissing", message: "Secret next does not exist." };

  test.each<{
    readonly name: string;
    readonly license: Partial<LicenseSeen>;
    readonly rule: string;
    readonly action?: string;
  }>([
    {
      name: "and no other one: basic",
      license: { wanted: past, clusterLicense: "docs" },
      rule: "reverts",
      action: "startLicense",
    },
    { name: "and no object either: basic", license: {}, rule: "reverts", action: "startLicense" },
    {
      name: "needs no permission for a lower type",
      license: { allowsDowngrade: false },
      rule: "reverts",
      action: "startLicense",
    },
    {
      name: "[licensing/X4] and another one came: it is applied",
      license: { wanted: next, clusterLicense: "next" },
      rule: "applyFile",
      action: "putLicense",
    },
    {
      name: "and another one whose signature is not there yet: waited for",
      license: { problem, clusterLicense: "next" },
      rule: "unreadable",
    },
    {
      name: "[licensing/X3] and Keep: nothing is started",
      license: { wanted: past, clusterLicense: "docs", revertsToBasic: false },
      rule: "alreadyRuns",
    },
  ])("$name", ({ license, rule, action }) => {
    const { last } = lived([{ atMinute: 1, license, engine: ended }]);
    expect([last?.rule, last?.actions.map((each) => each.kind)]).toEqual([
      rule,
      action === undefined ? [] : [action],
    ]);
  });

  test("[licensing/X4] the next one clears what was reported", () => {
    const life = new Life();
    life.sample({ atMinute: 1, license: { wanted: past, revertsToBasic: false }, engine: ended });
    expect(life.status.license).toMatchObject({ state: "Expired", reason: "LicenseExpired" });
    life.sample({
      atMinute: 2,
      license: { wanted: next, clusterLicense: "next" },
      engine: { ...gold, uid: "gold-2" },
    });
    expect(life.status.license).toEqual({
      uid: "gold-2",
      type: "gold",
      expiryTime: "2025-06-01T16:40:00Z",
      clusterLicense: "next",
      state: "Applied",
    });
  });
});

test("[licensing/X7] in the last 15 days the lane comes back twice a day at most, and the engine gets no query", () => {
  const life = new Life();
  const expiryMs = startMs + 15 * 24 * 60 * minute;
  const engine = { ...gold, expiryMs };
  const license = { wanted: { ...wanted, expiryMs }, clusterLicense: "docs", revertsToBasic: false };
  let atMinute = 0;
  let observations = 0;
  while (atMinute < 15 * 24 * 60) {
    const { outcome } = life.sample({ atMinute, license, engine });
    const sleepMs = outcome.kind === "settled" ? (outcome.recheckAfterMs ?? Number.POSITIVE_INFINITY) : 0;
    expect(sleepMs).toBeGreaterThanOrEqual(minute);
    atMinute += sleepMs / minute;
    observations += 1;
  }
  expect(observations).toBe(36);
  expect(life.requested).toEqual([0]);
});
