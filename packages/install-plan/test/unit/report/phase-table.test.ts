import { planPhases } from "@quartermaster/api";
import { type Condition, firstAnswer, type Outcome, stalled, waiting } from "@quartermaster/runtime";
import { conditionsFor } from "@quartermaster/runtime/testing";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { PlanStatus } from "../../../src/model/plan-status.ts";
import { contradictionsIn, phaseTable } from "../../../src/report/phase-table.ts";
import { planConditionTypes } from "../../../src/report/plan-conditions.ts";
import { statusAfterError } from "../../../src/report/plan-report.ts";
import { rules } from "../../../src/rules.ts";
import { anyAuthor, anyWorld, planIn, seenIn, worldTime } from "../../support/any-world.ts";

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
  world: anyWorld,
  error: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, fc.constantFrom(...broken)),
});

describe("the phase and the conditions of a plan", () => {
  test("[install-plan/127] never contradict each other, whatever a plan goes through", () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(anyAuthor, fc.array(anyStep, { minLength: 1, maxLength: 8 }), (author, steps) => {
        let status: PlanStatus | undefined;
        for (const { world, error } of steps) {
          const plan = planIn(author, world, status);
          if (error === undefined) {
            const { verdict } = firstAnswer(rules, seenIn(plan, world), worldTime);
            const { outcome, status: said = {}, conditions } = verdict;
            status = written(status, { outcome, status: said, updates: conditions as unknown as Conditions });
          } else {
            const said = statusAfterError(plan, error);
            status = written(status, { outcome: error, status: said, updates: undefined });
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
    { name: "Installed that is not ready", phase: "Installed", said: { Ready: "False" } },
    { name: "ready while it is degraded", phase: "Degraded", said: { Ready: "True" } },
    { name: "superseded and in force", phase: "Superseded", said: { Superseded: "False" } },
    { name: "in force and superseded", phase: "Installed", said: { Superseded: "True" } },
    { name: "invalid without a cause", phase: "Invalid", said: { Stalled: "True", Validated: "True" } },
    { name: "forbidden and authorized", phase: "Forbidden", said: { Authorized: "True" } },
    { name: "failed and at rest", phase: "Failed", said: { Stalled: "False", Reconciling: "False" } },
  ] as const)("are found to contradict: $name", ({ phase, said }) => {
    const conditions = Object.entries(said).map(([type, status]) => ({ type, status }));
    expect(contradictionsIn({ phase, conditions: conditions as never })).not.toEqual([]);
  });
});
