import { planPhases } from "@quartermaster/api";
import { describe, expect, test } from "vitest";

import { progressOf, watchEnd } from "../../src/render/status-tree.ts";
import { aCondition, aPlan } from "../support/plans.ts";

describe("whether to wait for a plan", () => {
  test("a plan that no one has looked at is undecided", () => {
    expect(progressOf(aPlan())).toBe("undecided");
  });

  test("a phase of an earlier generation decides nothing", () => {
    expect(progressOf(aPlan({ phase: "Invalid", observedGeneration: 0 }))).toBe("undecided");
  });

  test("a plan is ready by its condition", () => {
    const conditions = [aCondition("Ready", "True", "Installed")];
    expect(progressOf(aPlan({ phase: "Installed", observedGeneration: 1, conditions }))).toBe("ready");
  });

  test("without it, the phase decides", () => {
    const by = Map.groupBy(planPhases, (phase) => progressOf(aPlan({ phase, observedGeneration: 1 })));
    expect(by.get("undecided")).toEqual(["Resolving", "Validating"]);
    expect(by.get("stuck")).toEqual(["Invalid", "Forbidden", "Failed", "Paused", "Superseded"]);
    expect(by.get("ready")).toBeUndefined();
  });
});

test("a watch ends when several looks in a row find the plan stuck", () => {
  const invalid = aPlan({ phase: "Invalid", observedGeneration: 1 });
  const applying = aPlan({ phase: "Applying", observedGeneration: 1 });
  const isFinished = watchEnd((progress) => progress === "ready");
  const observations = [invalid, invalid, invalid, applying, invalid, invalid, invalid, invalid, invalid];
  expect(observations.map(isFinished).indexOf(true)).toBe(observations.length - 1);
});
