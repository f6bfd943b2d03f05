import type { InstallPlan } from "@quartermaster/api";
import { trueCondition } from "@quartermaster/health";
import { timestampOf, unreachable } from "@quartermaster/runtime";
import type { Job } from "@quartermaster/runtime/kinds";

import type { PlanAction } from "../plan-action.ts";
import type { Seen } from "../seen.ts";
import { isOwnJob, jobNameFor, type JobRecord, type JobView } from "./job-view.ts";

/** State of a job, for the status. The name of a Job that is no longer there, or not for long, would only mislead. */
export function jobRecord(job: JobView, before: readonly JobRecord[], now: Date): JobRecord {
  const isThere = !hasEnded(job) || (job.live !== undefined && isKept(job));
  return {
    stage: job.stage,
    name: job.spec.name,
    ...(isThere ? { jobName: job.jobName } : {}),
    attempt: job.attempt,
    planAttempt: job.planAttempt,
    tries: job.tries,
    state: job.state,
    ...timesOf(job, before, now),
    message: job.message,
  };
}

/** Noted when they are first seen; they stay for as long as the try is the same. */
function timesOf(
  job: JobView,
  before: readonly JobRecord[],
  now: Date,
): Pick<JobRecord, "startedAt" | "finishedAt"> {
  const known = before.find(
    ({ stage, name, attempt }) => stage === job.stage && name === job.spec.name && attempt === job.attempt,
  );
  const startedAt = known?.startedAt ?? (job.state === "Waiting" ? undefined : timestampOf(now));
  const finishedAt = hasEnded(job) ? (known?.finishedAt ?? timestampOf(now)) : undefined;
  return {
    startedAt,
    finishedAt,
  };
}

function hasEnded({ state }: JobView): boolean {
  return state === "Succeeded" || state === "Failed" || state === "TimedOut";
}

/** Jobs that have ended and are not to be kept: those that can go now, and whether some can only go after this reconcile. */
export interface EndedJobs {
  readonly actions: readonly PlanAction[];
  readonly isMoreToCome: boolean;
}

/** A Job goes only after its end is in the status: otherwise a crash in between would run it again. */
export function endedJobs({ plan, account, jobs, surplusJobs: surplus }: Seen): EndedJobs {
  // They are deleted as the account, too.
  if (account.kind !== "present") return { actions: [], isMoreToCome: false };
  const leaving = jobs.filter((job) => isPresent(job) && !isKept(job));
  const records = plan.status?.jobs ?? [];
  const isRemembered = (job: JobView): boolean =>
    records.some(
      ({ stage, name, attempt, state }) =>
        stage === job.stage && name === job.spec.name && attempt === job.attempt && state === job.state,
    );
  return {
    actions: [
      ...leaving.filter(isRemembered),
      ...surplus.map((live) => ({ jobName: live.metadata.name, live })),
    ].map((job) => ({ kind: "deleteJob", job })),
    isMoreToCome: !leaving.every(isRemembered),
  };
}

function isPresent({ live }: JobView): boolean {
  return live !== undefined && live.metadata.deletionTimestamp === undefined;
}

/** One that Kubernetes has not ended is never kept: it would run on. */
function isKept({ state, live, spec: { keep } }: JobView): boolean {
  switch (state) {
    case "Succeeded":
      return keep === "Always";
    case "Failed":
      return keep !== "Never";
    case "TimedOut":
      return keep !== "Never" && live !== undefined && trueCondition(live, "Failed") !== undefined;
    case "Waiting":
    case "Running":
      return true;
    default:
      return unreachable(state);
  }
}

/** So many failed Jobs of one job of a stage are kept for their logs. */
const keptFailedJobs = 3;

/**
 * Failed Jobs of earlier tries beyond the last few. The number of a try only grows, so that their names are never requested
 * again; the try that counts now is never among them.
 */
export function surplusJobs(
  plan: InstallPlan,
  views: readonly JobView[],
  list: () => readonly Job[],
): readonly Job[] {
  // Nearly all plans end here, without a walk over the Jobs of all plans.
  if (views.every(({ attempt }) => attempt <= keptFailedJobs)) return [];
  const kept = new Set(views.flatMap((view) => keptNames(plan, view)));
  return list().filter(
    (job) =>
      !kept.has(job.metadata.name) &&
      job.metadata.deletionTimestamp === undefined &&
      trueCondition(job, "Failed") !== undefined &&
      isOwnJob(job, plan),
  );
}

function keptNames(plan: InstallPlan, { stage, spec, attempt, state }: JobView): readonly string[] {
  const lastFailed = state === "Failed" || state === "TimedOut" ? attempt : attempt - 1;
  const tries = [attempt, ...Array.from({ length: keptFailedJobs }, (_, index) => lastFailed - index)];
  return tries.map((each) => jobNameFor(plan, { stage, job: spec.name, attempt: each }));
}
