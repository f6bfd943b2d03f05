import type { InstallPlan } from "@quartermaster/api";
import { firstDecision, type Verdict } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { deletionRules } from "../../../src/deletion/deletion-rules.ts";
import type { PlanAction } from "../../../src/plan-action.ts";
import { reasons } from "../../../src/reasons.ts";
import { rules } from "../../../src/rules.ts";
import { wakeTriggers } from "../../../src/wake/wake-triggers.ts";
import { anObject, installPlanKind, watched, watching } from "../../support/plan-watching.ts";
import { aPlan } from "../../support/plans.ts";
import { steady, type WaitingPlan, waitingPlans } from "../../support/waiting-plans.ts";

const now = new Date("2026-01-01T00:00:00Z");

/** Reasons that say that nothing is waited for, or that nothing will ever change. */
const settledReasons: readonly string[] = [
  reasons.resolved,
  reasons.validated,
  reasons.notChecked,
  reasons.authorized,
  reasons.automatic,
  reasons.approved,
  reasons.applied,
  reasons.installed,
  reasons.asApplied,
  reasons.uncontested,
  reasons.inForce,
  reasons.notReplaced,
  // For good: who was replaced once does not come back.
  reasons.superseded,
  reasons.successorDeleted,
  // Of details only; their plans have the reasons above.
  reasons.conflict,
];

function decided(given: WaitingPlan["given"]): Verdict<PlanAction> {
  return "isOverdue" in given
    ? firstDecision(deletionRules, given, now).verdict
    : firstDecision(rules, given, now).verdict;
}

function reasonsOf({ outcome, conditions = [] }: Verdict<PlanAction>): readonly string[] {
  return ["why" in outcome ? outcome.why.reason : "", ...conditions.map(({ reason }) => reason)];
}

function retryMsOf({ outcome }: Verdict<PlanAction>): number {
  if (outcome.kind === "waiting") return outcome.retryAfterMs;
  return (outcome.kind === "stalled" ? outcome.retryAfterMs : undefined) ?? Number.POSITIVE_INFINITY;
}

/** Whether the watches of the controller, or its own timer, bring the plan back. */
function isWoken({ given, wake }: WaitingPlan): boolean {
  const verdict = decided(given);
  if ("withinMs" in wake) return retryMsOf(verdict) <= wake.withinMs;
  // A declaration brings its own plan back, and an object with owner labels the plan that they name.
  if ("own" in wake || "tracked" in wake) return true;
  const { wakeIndex, change } = watching();
  if (!("isOverdue" in given)) wakeIndex.subscribe(given.plan.metadata, wakeTriggers(given));
  if ("relative" in wake)
    return change(installPlanKind, other("Installed"), other("Replacing")).includes("p");
  if (wake.trigger === "plans")
    return change(installPlanKind, aPlan("x"), aPlan("x", { metadata: { generation: 2 } })).includes("p");
  return watched[wake.trigger].every((kind) => change(kind, anObject(kind)).includes("p"));
}

/** A plan that the plan `p` replaces, or that replaces it. */
function other(phase: string): InstallPlan {
  return aPlan("a", { spec: { replaces: { plans: [{ name: "p" }] } }, status: { phase } });
}

test("every reason of plans has a row here, or says that nothing is waited for", () => {
  const covered = new Set([...waitingPlans.map(({ reason }) => reason), ...settledReasons]);
  expect(Object.values(reasons).filter((reason) => !covered.has(reason))).toEqual([]);
});

describe("a plan that waits comes back without a resync when the cause goes", () => {
  test.each(waitingPlans.map((row, index) => ({ ...row, index })))("$index: $reason", (row) => {
    expect(reasonsOf(decided(row.given))).toContain(row.reason);
    expect(isWoken(row)).toBe(true);
  });

  test("one that waits for nothing is woken by nothing", () => {
    const { wakeIndex, change } = watching();
    wakeIndex.subscribe({ name: "p", namespace: "ns" }, wakeTriggers(steady()));
    for (const kind of Object.values(watched).flat()) expect(change(kind, anObject(kind))).toEqual([]);
  });
});
