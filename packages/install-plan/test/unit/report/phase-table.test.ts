import { planPhases } from "@quartermaster/api";
import { type Condition, firstDecision, type Outcome, stalled, waiting } from "@quartermaster/runtime";
import { conditionsFor } from "@quartermaster/runtime/testing";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { PlanStatus } from "../../../src/model/plan-status.ts";
import { contradictionsIn, phaseTable } from "../../../src/report/phase-table.ts";
import { planConditionTypes } from "../../../src/report/plan-conditions.ts";
import { statusAfterError } from "../../../src/report/plan-report.ts";
import { rules } from "../../../src/rules.ts";
import { anyAuthor, anyState, planIn, seenIn, stateTime } from "../../support/any-state.ts";

type Conditions = readonly Condition[];

/** The status as the runtime writes it. */
function written(
  before: PlanStatus | undefined,
  { outcome, status, updates }: { outcome: Outcome; status: object; updates: Conditions | undefined },
): PlanStatus {
  const previous = (before?.conditions ?? []) as unknown as Conditions;
  const claimed = conditionsFor({
    outcome,
    updates: updates ?? [],
    generation: 1,
    previous,
    now: "2026-01-01T00:00:00Z",
  });
  const kept = previous.filter(({ type }) => !claimed.some((condition) => condition.type === type));
  return { ...status, conditions: [...claimed, ...kept] };
}

const broken: readonly Outcome[] = [
  waiting({ reason: "Forbidden", message: "may not" }, 0),
  stalled({ reason: "TooLarge", message: "too large" }),
];

const anyStep = fc.record({
  state: anyState,
  error: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, fc.constantFrom(...broken)),
});

describe("the phase and the conditions of a plan", () => {
  test("[install-plan/127] never contradict each other, whatever a plan goes through", () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(anyAuthor, fc.array(anyStep, { minLength: 1, maxLength: 8 }), (author, steps) => {
        let status: PlanStatus | undefined;
        for (const { state, error } of steps) {
          const plan = planIn(author, state, status);
          if (error === undefined) {
            const { verdict } = firstDecision(rules, seenIn(plan, state), stateTime);
            const { outcome, status: output = {}, conditions } = verdict;
            status = written(status, {
              outcome,
              status: output,
              updates: conditions as unknown as Conditions,
            });
          } else {
            const output = statusAfterError(plan, error);
            status = written(status, { outcome: error, status: output, updates: undefined });
          }
          reached.add(status.phase ?? "");
          expect(contradictionsIn(status)).toEqual([]);
          expect(status.message).not.toBe("");
        }
      }),
      { numRuns: 2_000 },
    );
    // The deletion of a plan has rules of its own.
    expect(reached).toEqual(new Set(planPhases.filter((phase) => phase !== "Deleting")));
  });

  test("are named in the table as plans have them", () => {
    const known = new Set(["Ready", "Reconciling", "Stalled", ...planConditionTypes]);
    const named = Object.values(phaseTable).flatMap(({ always, because = {} }) =>
      Object.keys({ ...always, ...because }),
    );
    expect(named.filter((type) => !known.has(type))).toEqual([]);
  });

  test.each([
    { name: "Installed that is not ready", phase: "Installed", output: { Ready: "False" } },
    { name: "ready while it is degraded", phase: "Degraded", output: { Ready: "True" } },
    { name: "superseded and in force", phase: "Superseded", output: { Superseded: "False" } },
    { name: "in force and superseded", phase: "Installed", output: { Superseded: "True" } },
    { name: "invalid without a cause", phase: "Invalid", output: { Stalled: "True", Validated: "True" } },
    { name: "forbidden and authorized", phase: "Forbidden", output: { Authorized: "True" } },
    { name: "failed and at rest", phase: "Failed", output: { Stalled: "False", Reconciling: "False" } },
  ] as const)("are found to contradict: $name", ({ phase, output }) => {
    const conditions = Object.entries(output).map(([type, status]) => ({ type, status }));
    expect(contradictionsIn({ phase, conditions: conditions as never })).not.toEqual([]);
  });
});
