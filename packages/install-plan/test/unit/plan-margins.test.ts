import { ApiError, type ErrorClass } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { isOverdue } from "../../src/deletion/observe-deletion.ts";
import { writeFailureFrom } from "../../src/model/write-failure.ts";
import { PlanMemory } from "../../src/plan-memory.ts";
import { retryInMs, stageElapsedMs } from "../../src/retry/retry.ts";
import { allWakeTriggers, WakeIndex } from "../../src/wake/wake-index.ts";
import { aPlan } from "../support/plans.ts";

const identity = { apiVersion: "v1", kind: "ConfigMap", namespace: "ns", name: "c" };
const secondMs = 1_000;
const minuteMs = 60 * secondMs;

describe("how long a write that failed is left alone", () => {
  const delayOf = (errorClass: ErrorClass, count: number, retryAfterMs?: number): number => {
    const facts = {
      class: errorClass,
      mayHaveActed: false,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
    const nowMs = 7 * minuteMs;
    return writeFailureFrom(new ApiError("x", facts), { identity, count, nowMs }).notBeforeMs - nowMs;
  };
  test.each([
    { name: "a second after the first failure", given: ["transient", 1], want: secondMs },
    { name: "two after the second", given: ["transient", 2], want: 2 * secondMs },
    { name: "32 after the sixth", given: ["transient", 6], want: 32 * secondMs },
    { name: "at most a minute", given: ["transient", 7], want: minuteMs },
    { name: "however many there were", given: ["transient", 1_000], want: minuteMs },
    { name: "as long for a refusal", given: ["forbidden", 3], want: 4 * secondMs },
    { name: "a moment after a conflict", given: ["conflict", 1], want: 50 },
    { name: "also after the fifth in a row", given: ["conflict", 5], want: 50 },
    { name: "as after anything else from the sixth on", given: ["conflict", 6], want: 32 * secondMs },
    {
      name: "as long as the server requested",
      given: ["tooManyRequests", 1, 5 * secondMs],
      want: 5 * secondMs,
    },
    {
      name: "no shorter because the server would allow it",
      given: ["tooManyRequests", 4, 10],
      want: 8 * secondMs,
    },
  ] as const)("$name", ({ given: [errorClass, count, retryAfterMs], want }) => {
    expect(delayOf(errorClass, count, retryAfterMs)).toBe(want);
  });
});

describe("a deletion that has a time limit", () => {
  const deletedAt = "2026-01-01T00:00:00Z";
  const at = (ms: number): { readonly system: { wallMs: () => number; monotonicMs: () => number } } => ({
    system: { wallMs: () => Date.parse(deletedAt) + ms, monotonicMs: () => ms },
  });
  const planWith = (deletion: object) =>
    aPlan("p", { spec: { deletion }, metadata: { deletionTimestamp: deletedAt } });
  /** The first look comes with the deletion; the second after so long. */
  const isOverdueAfter = (deletion: object, elapsedMs: number): boolean => {
    const memory = new PlanMemory();
    const plan = planWith(deletion);
    isOverdue(plan, memory, at(0) as never);
    return isOverdue(plan, memory, at(elapsedMs) as never);
  };
  const orphan = { timeoutSeconds: 600, onTimeout: "Orphan" };
  test.each([
    { name: "is not overdue before it", given: [orphan, 599 * secondMs], want: false },
    { name: "nor at its very end", given: [orphan, 600 * secondMs], want: false },
    { name: "is overdue after it", given: [orphan, 600 * secondMs + 1], want: true },
    {
      name: "is never overdue where the plan says to wait",
      given: [{ ...orphan, onTimeout: "Wait" }, 100 * minuteMs],
      want: false,
    },
    {
      name: "is never overdue without a limit",
      given: [{ ...orphan, timeoutSeconds: 0 }, 100 * minuteMs],
      want: false,
    },
  ] as const)("$name", ({ given: [deletion, elapsedMs], want }) => {
    expect(isOverdueAfter(deletion, elapsedMs)).toBe(want);
  });

  test.each([-30, -5, 5, 30])(
    "is not overdue immediately for a process whose clock is %i minutes off",
    (minutes) => {
      const system = { wallMs: () => Date.parse(deletedAt) + minutes * minuteMs, monotonicMs: () => 0 };
      expect(isOverdue(planWith(orphan), new PlanMemory(), { system } as never)).toBe(false);
    },
  );
});

describe("the time between two attempts", () => {
  const failed = (attempt: number, retry: object): ReturnType<typeof aPlan> =>
    aPlan("p", { spec: { retry }, status: { phase: "Failed", attempt, startedAt: "2026-01-01T00:00:00Z" } });
  test.each([
    { name: "is what the plan says, in seconds", attempt: 1, want: 30 * secondMs },
    { name: "doubles", attempt: 2, want: 60 * secondMs },
    { name: "again", attempt: 4, want: 240 * secondMs },
    { name: "up to what the plan says", attempt: 9, want: 600 * secondMs },
  ])("$name", ({ attempt, want }) => {
    const plan = failed(attempt, { initialSeconds: 30, maxSeconds: 600 });
    const memory = new PlanMemory();
    expect(retryInMs(plan, memory, 0)).toBe(want);
    expect(retryInMs(plan, memory, want - 1)).toBe(1);
    expect(retryInMs(plan, memory, want)).toBe(0);
  });
});

describe("how long a stage has lasted", () => {
  const startedAt = "2026-01-01T00:00:00Z";
  const plan = aPlan("p", {
    spec: { stages: [{ name: "s", resources: [], timeoutSeconds: 600 }] },
    status: { phase: "Applying", startedAt, stage: "s", stageStartedAt: startedAt, attempt: 1 },
  });
  test.each([
    { name: "goes by the status where another process began it", skewMs: 5 * minuteMs, want: 299 * secondMs },
    {
      name: "leaves ten seconds to a process whose clock is ahead",
      skewMs: 60 * minuteMs,
      want: 590 * secondMs,
    },
    { name: "is nothing for a process whose clock is behind", skewMs: -5 * minuteMs, want: 0 },
  ])("$name", ({ skewMs, want }) => {
    const system = { wallMs: () => Date.parse(startedAt) + skewMs, monotonicMs: () => 1_000_000 };
    expect(stageElapsedMs(plan, new PlanMemory(), system as never)).toBe(want);
  });
});

describe("what has just changed", () => {
  test.each(allWakeTriggers)("%s counts for three seconds", (trigger) => {
    const index = new WakeIndex();
    index.notify(trigger, 1_000);
    expect(index.recentlyChanged(3_999)).toEqual([trigger]);
    expect(index.recentlyChanged(4_000)).toEqual([]);
  });
});
