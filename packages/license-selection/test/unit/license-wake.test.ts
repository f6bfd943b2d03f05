import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { dayMs, licenseParameters, sleepUntil } from "../../src/index.ts";
import { decided, license, newCluster, nowMs, under } from "../support/license-state.ts";

const hourMs = 3_600_000;
const minuteMs = 60_000;

describe("time alone changes a choice only at the moment that was said before", () => {
  const candidates = fc.array(
    fc
      .record({
        type: fc.constantFrom("standard" as const, "gold" as const, "platinum" as const),
        start: fc.integer({ min: -60, max: 20 }),
        days: fc.integer({ min: 1, max: 90 }),
        parentDays: fc.integer({ min: 1, max: 90 }),
        parentStart: fc.integer({ min: -60, max: 5 }),
      })
      .map(({ type, start, days, parentDays, parentStart }) =>
        license(type, days, {
          startMs: nowMs + start * dayMs,
          expiryMs: nowMs + Math.max(days, start + 1) * dayMs,
          parent: {
            startMs: nowMs + parentStart * dayMs,
            expiryMs: nowMs + Math.max(parentDays, parentStart + 1) * dayMs,
          },
        }),
      ),
    { minLength: 1, maxLength: 4 },
  );

  test("for one to four licenses, with and without one that runs", () => {
    const property = fc.property(
      candidates,
      fc.record({
        runs: fc.boolean(),
        allowsDowngrade: fc.boolean(),
        share: fc.integer({ min: 1, max: 999 }),
      }),
      (list, { runs, allowsDowngrade, share }) => {
        const given = list.map((each, at) => ({
          ...each,
          uid: `${each.uid}-${String(at)}`,
          source: String(at),
        }));
        const [first] = given;
        const cluster = runs && first !== undefined ? under(first, { allowsDowngrade }) : newCluster;
        const now = decided(given, cluster);
        const untilMs = now.wakeAtMs ?? nowMs + 400 * dayMs;
        const between = decided(given, cluster, nowMs + Math.floor(((untilMs - 1 - nowMs) * share) / 1_000));
        const just = decided(given, cluster, untilMs - 1);
        expect([between.choice, just.choice]).toEqual([now.choice, now.choice]);
      },
    );
    expect(() => {
      fc.assert(property, { numRuns: 5_000 });
    }).not.toThrow();
  });
});

describe("the next moment of a cluster under a license", () => {
  const P = license("platinum", 90);

  test.each([
    {
      name: "its first warning, 30 days before its end",
      fromMs: nowMs,
      want: nowMs + 60 * dayMs,
    },
    { name: "the moment after its margin", fromMs: nowMs + 60 * dayMs, want: nowMs + 60 * dayMs + 1 },
    { name: "the second warning", fromMs: nowMs + 60 * dayMs + 1, want: nowMs + 76 * dayMs },
    { name: "the third warning", fromMs: nowMs + 76 * dayMs, want: nowMs + 83 * dayMs },
    {
      name: "its last day, in which a lower type may follow",
      fromMs: nowMs + 83 * dayMs,
      want: nowMs + 89 * dayMs,
    },
    { name: "its end", fromMs: nowMs + 89 * dayMs, want: nowMs + 90 * dayMs },
    { name: "none after its end", fromMs: nowMs + 90 * dayMs, want: undefined },
  ])("$name", ({ fromMs, want }) => {
    expect(decided([P], under(P), fromMs).wakeAtMs).toBe(want);
  });

  test("of one that has no object, its last day and its end, by the word of the engine", () => {
    const cluster = under(P);
    const moments = [nowMs, nowMs + 89 * dayMs, nowMs + 90 * dayMs].map(
      (at) => decided([], cluster, at).wakeAtMs,
    );
    expect(moments).toEqual([nowMs + 89 * dayMs, nowMs + 90 * dayMs, undefined]);
  });

  test("is the end of the grace of one that was lost", () => {
    const cluster = under(P, { lostSinceMs: nowMs - minuteMs });
    expect(decided([], cluster).wakeAtMs).toBe(nowMs + 14 * minuteMs);
  });
});

/** Names, units and values of every time: one in seconds instead of milliseconds would be seen here. */
test("every time of the parameters is in milliseconds, and as long as it is documented", () => {
  const { startMarginMs, expiryMarginMs, handoverLeadMs, hysteresisMs, deletionGraceMs } = licenseParameters;
  const { reservationGraceMs, minSleepMs, maxSleepMs, clockSkewMs, warnDays } = licenseParameters;
  expect([startMarginMs, handoverLeadMs, hysteresisMs]).toEqual([24 * hourMs, 24 * hourMs, 24 * hourMs]);
  expect(expiryMarginMs).toBe(30 * 24 * hourMs);
  expect([deletionGraceMs, clockSkewMs, reservationGraceMs]).toEqual([
    15 * minuteMs,
    5 * minuteMs,
    60 * minuteMs,
  ]);
  expect([minSleepMs, maxSleepMs]).toEqual([minuteMs, 10 * hourMs]);
  expect(warnDays).toEqual([30, 14, 7, 1]);
});

test.each([
  { name: "never for longer than ten hours", wakeAtMs: nowMs + 11 * hourMs, want: 10 * hourMs },
  { name: "ten hours without a moment", wakeAtMs: undefined, want: 10 * hourMs },
  { name: "to the moment", wakeAtMs: nowMs + 9 * hourMs, want: 9 * hourMs },
  { name: "at least a minute, for one that is near", wakeAtMs: nowMs + 1, want: minuteMs },
  { name: "at least a minute, for one that has passed", wakeAtMs: nowMs - hourMs, want: minuteMs },
])("a license sleeps $name", ({ wakeAtMs, want }) => {
  expect(sleepUntil(wakeAtMs, nowMs)).toBe(want);
});
