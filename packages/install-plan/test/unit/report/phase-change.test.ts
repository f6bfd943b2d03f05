import { held, type Outcome, settled, stalled, waiting } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import type { PlanStatus } from "../../../src/model/plan-status.ts";
import { phaseChange } from "../../../src/report/phase-change.ts";

function before(phase: string, reason = "Any"): PlanStatus {
  const condition = { type: "Ready", status: "False", reason, message: "", lastTransitionTime: "" };
  return { phase, conditions: [condition] } as unknown as PlanStatus;
}

function why(reason: string): { readonly reason: string; readonly message: string } {
  return { reason, message: "m" };
}

interface Row {
  readonly name: string;
  readonly before?: PlanStatus;
  readonly phase?: PlanStatus["phase"];
  readonly outcome: Outcome;
  /** Type, reason and note of the event. */
  readonly want: string | undefined;
}

const rows: readonly Row[] = [
  {
    name: "the first phase",
    phase: "Resolving",
    outcome: waiting(why("ManifestMissing"), 1),
    want: "Normal Resolving ManifestMissing: m",
  },
  {
    name: "a good end",
    before: before("Applying"),
    phase: "Installed",
    outcome: settled(),
    want: "Normal Installed m",
  },
  {
    name: "the same phase",
    before: before("Applying", "Applying"),
    phase: "Applying",
    outcome: waiting(why("WaitingForStage"), 1),
    want: undefined,
  },
  {
    name: "a failure",
    before: before("RunningJobs"),
    phase: "Failed",
    outcome: stalled(why("JobFailed")),
    want: "Warning Failed JobFailed: m",
  },
  {
    name: "the same failure",
    before: before("Failed", "JobFailed"),
    phase: "Failed",
    outcome: stalled(why("JobFailed")),
    want: undefined,
  },
  {
    name: "another reason of the same bad phase",
    before: before("Invalid", "KindMissing"),
    phase: "Invalid",
    outcome: stalled(why("Collision")),
    want: "Warning Invalid Collision: m",
  },
  {
    name: "a lack of permissions",
    before: before("Validating"),
    phase: "Forbidden",
    outcome: stalled(why("PermissionsMissing")),
    want: "Warning Forbidden PermissionsMissing: m",
  },
  {
    name: "a collision, whatever the phase",
    before: before("Installed"),
    phase: "Replacing",
    outcome: held(why("Collision")),
    want: "Warning Replacing Collision: m",
  },
  { name: "a reconcile that came to no phase", outcome: stalled(why("Forbidden")), want: undefined },
];

describe("the event about a plan's phase", () => {
  test.each(rows)("$name: $want", ({ before: status, phase, outcome, want }) => {
    const after = { ...(phase === undefined ? {} : { phase }), message: "m" } as PlanStatus;
    const event = phaseChange(status, after, outcome)?.event;
    expect(event === undefined ? undefined : `${event.type} ${event.reason} ${event.note}`).toBe(want);
  });
});
