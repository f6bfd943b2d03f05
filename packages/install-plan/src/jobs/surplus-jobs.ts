import type { InstallPlan } from "@quartermaster/api";
import { trueCondition } from "@quartermaster/health";
import type { Job } from "@quartermaster/runtime/kinds";

import { isOwnJob, jobNameFor, type JobView } from "./job-view.ts";

/** So many failed Jobs of one job of a stage are kept for their logs. */
const keptFailedJobs = 3;

/**
 * Failed Jobs of earlier tries beyond the last few. The number of a try only grows, so that their names are never asked for
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
