import { timestampOf } from "@quartermaster/runtime";

import type { JobRecord, JobView } from "../world/job-view.ts";

/** State of a job, for the status. Times are noted when they are first seen and stay for as long as the try is the same. */
export function jobRecord(job: JobView, before: readonly JobRecord[], now: Date): JobRecord {
  const known = before.find(
    ({ stage, name, attempt }) => stage === job.stage && name === job.spec.name && attempt === job.attempt,
  );
  const startedAt = known?.startedAt ?? (job.state === "Waiting" ? undefined : timestampOf(now));
  const finishedAt = hasEnded(job) ? (known?.finishedAt ?? timestampOf(now)) : undefined;
  return {
    stage: job.stage,
    name: job.spec.name,
    jobName: job.jobName,
    attempt: job.attempt,
    state: job.state,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
    ...(job.message === undefined ? {} : { message: job.message }),
  };
}

function hasEnded({ state }: JobView): boolean {
  return state === "Succeeded" || state === "Failed" || state === "TimedOut";
}
