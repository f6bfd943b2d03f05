import type { InstallPlan } from "@quartermaster/api";
import { timestampOf } from "@quartermaster/runtime";

/** Progress in a plan's status; everything else is observed in each reconcile. */
export type PlanStatus = NonNullable<InstallPlan["status"]>;

/**
 * The first write may have happened: everything was checked and approved before. A plan that waits for an approval has not
 * started, whatever its status says: an approval cannot be taken back, so that such a status was not written by the operator.
 */
export function hasStarted({ spec, status }: InstallPlan): boolean {
  const isApproved = spec.approval === "Automatic" || spec.approved;
  return status?.startedAt !== undefined && isApproved;
}

export const progressFields = [
  "startedAt",
  "finishedAt",
  "stage",
  "stageStartedAt",
  "contentDigest",
] as const;

/** Whether the status speaks of progress although the plan has not started. */
export function hasForgedProgress(plan: InstallPlan): boolean {
  return !hasStarted(plan) && progressFields.some((field) => plan.status?.[field] !== undefined);
}

/** Every stage has been passed once. */
export function isInstalled(plan: InstallPlan): boolean {
  return hasStarted(plan) && plan.status?.finishedAt !== undefined;
}

/** It is being carried out after a manual approval, which covers what its preview showed and nothing else. */
export function isBoundByApproval(plan: InstallPlan): boolean {
  return plan.spec.approval === "Manual" && hasStarted(plan) && !isInstalled(plan);
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

export function turnTo(stage: { readonly name: string } | undefined, now: Date): Partial<PlanStatus> {
  return stage === undefined ? {} : { stage: stage.name, stageStartedAt: timestampOf(now) };
}

/**
 * How long the stage had lasted when a process first sees it, by the wall clock. Some time is always left: a clock that is
 * wrong must not fail a stage immediately.
 */
export function stageLastedMs(plan: InstallPlan, wallMs: number): number {
  const { stageStartedAt } = plan.status ?? {};
  const stage = plan.spec.stages[stageIndexOf(plan)];
  if (stageStartedAt === undefined || stage === undefined) return 0;
  return lastedMs(stageStartedAt, stage.timeoutSeconds, wallMs);
}

/** How long the deletion had lasted when a process first sees it; see `stageLastedMs`. */
export function deletionLastedMs({ metadata, spec }: InstallPlan, wallMs: number): number {
  const { deletionTimestamp } = metadata;
  return deletionTimestamp === undefined
    ? 0
    : lastedMs(deletionTimestamp, spec.deletion.timeoutSeconds, wallMs);
}

function lastedMs(since: string, timeoutSeconds: number, wallMs: number): number {
  const limitMs = timeoutSeconds * 1_000;
  const mostMs = limitMs - Math.min(leftAtLeastMs, limitMs / 2);
  return Math.min(Math.max(0, wallMs - Date.parse(since) - roundedOffMs), mostMs);
}

const leftAtLeastMs = 10_000;
/** The status has whole seconds; a stage that began just now has not lasted one. */
const roundedOffMs = 1_000;

/** The index of the stage being worked on; the number of stages when all are passed. */
export function stageIndexOf(plan: InstallPlan): number {
  const { stages } = plan.spec;
  if (isInstalled(plan)) return stages.length;
  const { stage } = plan.status ?? {};
  if (stage === finishing) return stages.length;
  const index = stages.findIndex(({ name }) => name === stage);
  return Math.max(index, 0);
}

/** Value of `status.stage` when all stages are passed and leftovers are being removed. No stage can have this name. */
export const finishing = "(finishing)";

/** `kubectl delete --cascade=orphan` sets this finalizer, until the garbage collector has done its part. */
export function isOrphaning({ metadata }: InstallPlan): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes("orphan");
}

/** Set on plans before anything is made for them. */
export const planFinalizer = "install.quartermaster.dev/clean-up";
