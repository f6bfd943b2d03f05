import type { InstallPlan } from "@quartermaster/api";

import type { Phase } from "./report/plan-report.ts";

/** The phases of plans; `New` is for those that no reconcile has reported yet. */
export const planPhases: readonly (Phase | "New")[] = [
  "New",
  "Resolving",
  "Validating",
  "Invalid",
  "Forbidden",
  "AwaitingApproval",
  "Applying",
  "RunningJobs",
  "Finishing",
  "Installed",
  "Failed",
  "Replacing",
  "Superseded",
  "Deleting",
];

type Counts = NonNullable<NonNullable<InstallPlan["status"]>["counts"]>;

/** How an object of a plan can be, as `status.counts` has it. */
export type CountedState = Exclude<keyof Counts, "total">;

/** All of them. */
export const countedStates: readonly CountedState[] = [
  "ready",
  "suspended",
  "inProgress",
  "failed",
  "missing",
  "drifted",
  "conflict",
  "terminating",
  "unknown",
];

/** Plans by phase, by what their statuses say. */
export function countPhases(plans: readonly InstallPlan[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { status } of plans) {
    const phase = status?.phase ?? "New";
    counts.set(phase, (counts.get(phase) ?? 0) + 1);
  }
  return counts;
}

/** Objects by state. Plans that are over count for nothing: their objects are another one's. */
export function countStates(plans: readonly InstallPlan[]): ReadonlyMap<CountedState, number> {
  const counts = new Map<CountedState, number>();
  for (const { status } of plans) {
    if (status?.counts === undefined || status.phase === "Superseded") continue;
    for (const state of countedStates) counts.set(state, (counts.get(state) ?? 0) + status.counts[state]);
  }
  return counts;
}
