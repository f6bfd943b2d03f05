import type { InstallPlan } from "@quartermaster/api";
import { type CleanUpEnd, type Outcome, stalled, waiting, type Why } from "@quartermaster/runtime";

import { describeIdentity } from "../identity.ts";
import type { PlanStatus } from "../progress.ts";
import { reasons } from "../reasons.ts";
import type { DeletionStep, Remaining, Unread } from "./decide-deletion.ts";

/** How far a deletion has come. */
export interface DeletionProgress {
  readonly plan: InstallPlan;
  readonly step: DeletionStep;
  readonly remaining: readonly Remaining[];
  readonly unanswered: readonly Unread[];
}

const lookAgainMs = 5_000;
const unauthorizedMs = 30_000;

/** Events bring us back as objects go; a look every few seconds is for those that no event reports. */
export function underWay(progress: DeletionProgress): CleanUpEnd {
  const [blocker] = progress.step.blockedBy;
  if (blocker === undefined || progress.step.actions.length > 0) {
    const why = { reason: reasons.deleting, message: "Deleting the objects of the plan." };
    return report(progress, why, { outcome: waiting(why, lookAgainMs), isBlocked: false });
  }
  const { object, finalizers = [] } = blocker;
  const message = `${describeIdentity(object)} is waiting for its finalizers ${finalizers.join(", ")}.`;
  const why = { reason: reasons.deletionBlocked, message };
  return report(progress, why, { outcome: waiting(why, lookAgainMs), isBlocked: true });
}

/** Nobody can say whether they are there, and what was made before them has to wait for them. */
export function unread(progress: DeletionProgress, [first, ...others]: readonly Unread[]): CleanUpEnd {
  const name = first === undefined ? "" : describeIdentity(first.identity);
  const rest = others.length === 0 ? "" : ` and ${others.length} more`;
  const message = `Whether ${name}${rest} still exists is unknown: the API of ${first?.identity.apiVersion ?? ""} does not respond.`;
  const why = { reason: reasons.deletionBlocked, message };
  return report(progress, why, { outcome: waiting(why, lookAgainMs), isBlocked: true });
}

/** Everything is orphaned: reported before the first object is released. */
export function orphaned(plan: InstallPlan, remaining: number): CleanUpEnd {
  const why = { reason: reasons.deleting, message: "Orphaning the objects of the plan." };
  const deletion = { remaining, orphan: true };
  return told(plan, why, { outcome: waiting(why, 0), isBlocked: false, deletion });
}

/** Somebody has to give the account its permissions back, or allow the plan to let go. */
export function unauthorized(progress: DeletionProgress, why: string): CleanUpEnd {
  const { serviceAccountName } = progress.plan.spec;
  const message = `Service account ${serviceAccountName} cannot delete the remaining objects: ${why}; set deletion.ifUnauthorized: Orphan to leave them in the cluster.`;
  const found = { reason: reasons.deletionBlocked, message };
  return report(progress, found, { outcome: stalled(found, unauthorizedMs), isBlocked: true });
}

/** Nobody has vouched for the account that has the name now: somebody has to act, and the plan cannot. */
export function accountReplaced(progress: DeletionProgress): CleanUpEnd {
  const { serviceAccountName } = progress.plan.spec;
  const message = `Service account ${serviceAccountName} was deleted and recreated, and the new one is not trusted: delete the remaining objects yourself, or set deletion.ifUnauthorized: Orphan to leave them in the cluster.`;
  const found = { reason: reasons.serviceAccountReplaced, message };
  return report(progress, found, { outcome: stalled(found, unauthorizedMs), isBlocked: true });
}

/** Nobody can say what is left until the operator may look. */
export function unseen(plan: InstallPlan, why: string): CleanUpEnd {
  const found = { reason: reasons.deletionBlocked, message: `${why}.` };
  return told(plan, found, { outcome: stalled(found, lookAgainMs), isBlocked: true });
}

function report(
  { plan, step, remaining, unanswered }: DeletionProgress,
  why: Why,
  end: Pick<DeletionStatus, "outcome" | "isBlocked">,
): CleanUpEnd {
  const blockedBy = step.blockedBy.slice(0, 20);
  const deletion = {
    remaining: remaining.length + unanswered.length,
    ...(blockedBy.length === 0 ? {} : { blockedBy }),
    ...(plan.status?.deletion?.orphan === true ? { orphan: true } : {}),
  };
  return told(plan, why, { ...end, deletion });
}

interface DeletionStatus {
  readonly outcome: Outcome;
  readonly isBlocked: boolean;
  /** Default: as it was. */
  readonly deletion?: PlanStatus["deletion"];
}

/** What the status said before stays: without it a plan that has begun would look like one that never did. */
function told(
  { status }: InstallPlan,
  { reason, message }: Why,
  { outcome, isBlocked, deletion = status?.deletion }: DeletionStatus,
): CleanUpEnd {
  return {
    outcome,
    status: { ...status, phase: "Deleting", message, ...(deletion === undefined ? {} : { deletion }) },
    conditions: [{ type: "DeletionBlocked", status: isBlocked ? "True" : "False", reason, message }],
  };
}
