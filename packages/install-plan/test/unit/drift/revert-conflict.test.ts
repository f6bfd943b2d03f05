import { describe, expect, test } from "vitest";

import type { Revert } from "../../../src/drift/revert-conflicts.ts";
import { identityKey } from "../../../src/model/identity.ts";
import { PlanMemory } from "../../../src/plan-memory.ts";

const key = identityKey({ apiVersion: "v1", kind: "ConfigMap", namespace: "ns", name: "c" });
const secondMs = 1_000;
const minuteMs = 60 * secondMs;

/** One revert per second, from 1 s on. */
function reverts(count: number, more: Partial<Revert> = {}): readonly Revert[] {
  return Array.from({ length: count }, (_, at) => ({ atMs: (at + 1) * secondMs, manager: "x", ...more }));
}

describe("another client keeps changing back what we restore", () => {
  const cases: readonly {
    readonly name: string;
    readonly given: readonly Revert[];
    readonly nowMs?: number;
    /** How long after the last revert the next one may come; undefined means immediately. */
    readonly wantPauseMs: number | undefined;
  }[] = [
    { name: "nothing was reverted", given: [], wantPauseMs: undefined },
    { name: "five reverts in five minutes are no conflict", given: reverts(5), wantPauseMs: undefined },
    { name: "six are", given: reverts(6), wantPauseMs: 10 * secondMs },
    { name: "the pause doubles with each further one", given: reverts(7), wantPauseMs: 20 * secondMs },
    { name: "and again", given: reverts(8), wantPauseMs: 40 * secondMs },
    { name: "up to ten minutes", given: reverts(30), wantPauseMs: 10 * minuteMs },
    {
      name: "reverts of different managers do not add up",
      given: [...reverts(3, { manager: "y" }), ...reverts(5)],
      wantPauseMs: undefined,
    },
    { name: "two takeovers are none", given: reverts(2, { isTakeover: true }), wantPauseMs: undefined },
    {
      name: "three takeovers pause for the longest time",
      given: reverts(3, { isTakeover: true }),
      wantPauseMs: 10 * minuteMs,
    },
    {
      name: "after twenty minutes it is forgotten",
      given: reverts(6),
      nowMs: 20 * minuteMs + 6 * secondMs,
      wantPauseMs: undefined,
    },
    {
      name: "a minute before that it is not",
      given: reverts(6),
      nowMs: 19 * minuteMs,
      wantPauseMs: 10 * secondMs,
    },
  ];

  test.each(cases)("$name", ({ given, nowMs = 30 * secondMs, wantPauseMs }) => {
    const memory = new PlanMemory();
    for (const revert of given) memory.reverts.note(key, revert);
    const lastMs = given.at(-1)?.atMs ?? 0;
    expect(memory.reverts.conflictOver(key, nowMs)).toEqual(
      wantPauseMs === undefined ? undefined : { manager: "x", notBeforeMs: lastMs + wantPauseMs },
    );
  });

  test("reverts that are more than five minutes apart are no conflict", () => {
    const memory = new PlanMemory();
    for (let at = 1; at <= 10; at += 1) memory.reverts.note(key, { atMs: at * 5 * minuteMs, manager: "x" });
    expect(memory.reverts.conflictOver(key, 50 * minuteMs)).toBeUndefined();
  });
});
