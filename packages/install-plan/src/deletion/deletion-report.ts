import type { InstallPlan } from "@quartermaster/api";
import type { Verdict, Why } from "@quartermaster/runtime";

import type { PlanStatus } from "../model/plan-status.ts";

type DeletionStatus = NonNullable<PlanStatus["deletion"]>;

/** An object that does not go, and what holds it. */
export type Blocker = NonNullable<DeletionStatus["blockedBy"]>[number];

export interface DeletionReport {
  readonly isBlocked?: boolean | undefined;
  /** How many objects are left; left out, the status keeps what it says of them. */
  readonly remaining?: number | undefined;
  readonly blockedBy?: readonly Blocker[] | undefined;
  /** In place of what follows from the others. */
  readonly deletion?: DeletionStatus | undefined;
}

/** Status of a plan while it is being deleted. Everything from before stays: without it the plan would look unstarted. */
export function reportDeletion(
  { status }: InstallPlan,
  { reason, message }: Why,
  { isBlocked = false, remaining, blockedBy = [], deletion }: DeletionReport = {},
): Pick<Verdict<never>, "status" | "conditions"> {
  const output =
    deletion ??
    (remaining === undefined
      ? status?.deletion
      : progress(status?.deletion, { remaining, blockedBy, isBlocked }));
  return {
    status: { ...status, phase: "Deleting", message, deletion: output },
    conditions: [{ type: "DeletionBlocked", status: isBlocked ? "True" : "False", reason, message }],
  };
}

interface Progress {
  readonly remaining: number;
  readonly blockedBy: readonly Blocker[];
  readonly isBlocked: boolean;
}

function progress(
  before: DeletionStatus | undefined,
  { remaining, blockedBy, isBlocked }: Progress,
): DeletionStatus {
  return {
    remaining: isBlocked ? remaining : worthTelling(remaining, before?.remaining),
    ...(blockedBy.length === 0 ? {} : { blockedBy: blockedBy.slice(0, blockersReported) }),
    ...(before?.orphan === true ? { orphan: true } : {}),
  };
}

const blockersReported = 20;

/** Each change of a large plan's status is dear: while objects go, the number is reported again when it has halved. */
function worthTelling(remaining: number, reported: number | undefined): number {
  return reported !== undefined && remaining <= reported && remaining > reported / 2 ? reported : remaining;
}
