import type { InstallPlan } from "@quartermaster/api";

/** What a plan's status says of how far it has come; everything else is seen afresh in each pass. */
export type PlanStatus = NonNullable<InstallPlan["status"]>;

/** The first write may have happened: everything was checked and approved before. */
export function hasStarted({ status }: InstallPlan): boolean {
  return status?.startedAt !== undefined;
}

/** Every stage has been passed once. */
export function isInstalled({ status }: InstallPlan): boolean {
  return status?.finishedAt !== undefined;
}

/** It failed and has given back what it took over from other plans. */
export function isRolledBack(plan: InstallPlan): boolean {
  const { replaces = [] } = plan.status ?? {};
  return hasStarted(plan) && !isInstalled(plan) && replaces.some(({ state }) => state === "Pending");
}

/** The running number of the attempt, from 1. */
export function attemptOf({ status }: InstallPlan): number {
  return status?.attempt ?? 1;
}

/** The index of the stage being worked on; the number of stages when all are passed. */
export function stageIndexOf(plan: InstallPlan): number {
  const { stages } = plan.spec;
  if (isInstalled(plan)) return stages.length;
  const { stage } = plan.status ?? {};
  if (stage === finishing) return stages.length;
  const index = stages.findIndex(({ name }) => name === stage);
  return Math.max(index, 0);
}

/** Stands in `status.stage` when all stages are passed and leftovers are being removed. No stage can have this name. */
export const finishing = "(finishing)";
