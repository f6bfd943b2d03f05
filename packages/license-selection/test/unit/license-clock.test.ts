import * as fc from "fast-check";
import { expect, test } from "vitest";

import { dayMs, type LicenseCandidate } from "../../src/index.ts";
import { decided, license, nowMs, under } from "../support/license-state.ts";

const minuteMs = 60_000;

/** Uids that a cluster runs under, one per reconcile: each choice is applied before the next one. */
function applied(list: readonly LicenseCandidate[], clock: readonly number[]): readonly string[] {
  const [first] = list;
  if (first === undefined) return [];
  let current = first;
  return clock.map((atMs) => {
    const { choice } = decided(list, under(current, { allowsDowngrade: true }), atMs);
    current = list.find(({ uid }) => uid === choice) ?? current;
    return current.uid;
  });
}

/** Whether something is chosen again after something else was. */
function flaps(uids: readonly string[]): boolean {
  const changes = uids.filter((uid, at) => uid !== uids[at - 1]);
  return new Set(changes).size !== changes.length;
}

const candidates = fc.array(
  fc
    .record({
      type: fc.constantFrom("standard" as const, "gold" as const, "platinum" as const),
      start: fc.integer({ min: -60, max: 20 }),
      days: fc.integer({ min: 1, max: 90 }),
    })
    .map(({ type, start, days }) =>
      license(type, days, {
        startMs: nowMs + start * dayMs,
        expiryMs: nowMs + Math.max(days, start + 1) * dayMs,
      }),
    ),
  { minLength: 1, maxLength: 4 },
);

test("[security/62] a clock that swings by five minutes changes the license once at most", () => {
  const property = fc.property(candidates, fc.integer({ min: -1, max: 95 }), (list, day) => {
    const given = list.map((each, at) => ({ ...each, uid: `${each.uid}-${String(at)}`, source: String(at) }));
    const clock = [-1, 1, -1, 1, -1, 1].map((sign) => nowMs + day * dayMs + sign * 5 * minuteMs);
    expect(flaps(applied(given, clock))).toBe(false);
  });
  fc.assert(property, { numRuns: 5_000 });
});

test("[security/62] a clock that swings around the moment at which a short license hands over changes it once at most", () => {
  const given = [
    license("standard", 53, { startMs: nowMs, expiryMs: nowMs + 53 * dayMs }),
    license("platinum", 4, { startMs: nowMs + 19 * dayMs, expiryMs: nowMs + 23 * dayMs }),
  ].map((each, at) => ({ ...each, uid: `${each.uid}-${String(at)}`, source: String(at) }));
  for (const day of [20, 21, 22, 23]) {
    const clock = [-1, 1, -1, 1, -1, 1].map((sign) => nowMs + day * dayMs + sign * 5 * minuteMs);
    expect({ day, flaps: flaps(applied(given, clock)) }).toEqual({ day, flaps: false });
  }
});
