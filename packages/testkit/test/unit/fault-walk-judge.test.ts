import { describe, expect, test } from "vitest";

import type { DisturbanceId } from "../../src/fault-walk/disturbance.ts";
import { wrongEnd, wrongRollback } from "../../src/fault-walk/judge.ts";
import type { Reference } from "../../src/fault-walk/run-plan.ts";
import type { WorkloadRun } from "../../src/fault-walk/workload.ts";

const reference: Reference = {
  points: [],
  end: { objects: ["a"], replicas: 2 },
  retargetedEnd: { objects: ["a"], replicas: 3 },
  counts: new Map(),
  writes: 0,
  requests: new Map(),
};

/** A run that is at that end. */
function runAt(end: unknown, isCleared = false): WorkloadRun {
  return {
    endState: async () => await Promise.resolve(end),
    isCleared: async () => await Promise.resolve(isCleared),
  } as unknown as WorkloadRun;
}

async function judged(disturbance: DisturbanceId, run: WorkloadRun): Promise<string | undefined> {
  const plan = { workload: "w", disturbance, point: { key: "create configmaps a", occurrence: 1 } };
  return (await wrongEnd({ run, plan, reference }, 20))?.slice(0, 3);
}

describe("[faults/O1] the normal form at the end equals that of the undisturbed run", () => {
  test.each([
    { name: "the same", disturbance: "C2", end: { objects: ["a"], replicas: 2 }, want: undefined },
    { name: "one object more", disturbance: "C2", end: { objects: ["a", "b"], replicas: 2 }, want: "O1:" },
    { name: "one object less", disturbance: "E1", end: { objects: [], replicas: 2 }, want: "O1:" },
    { name: "another value", disturbance: "I1", end: { objects: ["a"], replicas: 1 }, want: "O1:" },
    { name: "the former spec after a change", disturbance: "I3", end: reference.end, want: "O1:" },
    { name: "the changed spec", disturbance: "I3", end: reference.retargetedEnd, want: undefined },
  ] as const)("$disturbance, $name: $want", async ({ disturbance, end, want }) => {
    expect(await judged(disturbance, runAt(end))).toBe(want);
  });
});

describe("[faults/O4] after a deletion nothing is left beyond what retention names", () => {
  test.each([
    { name: "something is left", isCleared: false, want: "O4:" },
    { name: "nothing is left", isCleared: true, want: undefined },
  ])("$name: $want", async ({ isCleared, want }) => {
    expect(await judged("I2", runAt(reference.end, isCleared))).toBe(want);
  });
});

describe("[faults/O15] going back to the former spec restores its state", () => {
  test.each([
    { name: "restored", end: reference.end, want: undefined },
    { name: "still that of the other spec", end: reference.retargetedEnd, want: "O15:" },
  ])("$name: $want", async ({ end, want }) => {
    expect((await wrongRollback(runAt(end), reference.end, 20))?.slice(0, 4)).toBe(want);
  });
});
