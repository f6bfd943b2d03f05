import { waiting } from "@quartermaster/runtime";

import { atOnceMs, because, type Decision } from "../model/decision.ts";
import { stageIndexOf } from "../model/plan-status.ts";
import type { PlanAction } from "../plan-action.ts";
import { reasons } from "../reasons.ts";
import { afterFailedJob } from "../retry/retry.ts";
import type { Seen } from "../seen.ts";
import type { JobView } from "./job-view.ts";

/** Runs the jobs of the stage, one after the other. */
export function stageJobs(seen: Seen, now: Date): Decision | undefined {
  const ours = seen.jobs.filter(({ stageIndex }) => stageIndex === stageIndexOf(seen.plan));
  const next = ours.find((job) => !isFinished(job));
  if (next === undefined) return undefined;
  const { state, spec } = next;
  if (state === "Failed" || state === "TimedOut") return afterFailure(next, seen, now);
  const failing = next.message === undefined ? "" : ` ${next.message}`;
  const why = because(reasons.runningJobs, `Job ${spec.name} of stage ${next.stage} is running.${failing}`);
  const actions: readonly PlanAction[] = state === "Waiting" ? [{ kind: "createJob", job: next }] : [];
  return {
    phase: "RunningJobs",
    actions,
    // Whether it runs is reported when it does: the server may refuse it.
    isInterim: actions.length > 0,
    outcome: waiting(why, actions.length > 0 ? 1_000 : recheckMs(next)),
  };
}

/** Its Job reports its end on its own; why its pods fail has to be read. */
function recheckMs({ spec, observationDueInMs }: JobView): number {
  return Math.min(spec.timeoutSeconds * 1000 + 3_000, observationDueInMs ?? Number.POSITIVE_INFINITY);
}

/** Done, or failed where the plan does not mind, and the status says so. */
function isFinished({ state, spec, triesLeft }: JobView): boolean {
  if (state === "Succeeded") return true;
  return spec.onFailure === "Continue" && triesLeft <= 0 && (state === "Failed" || state === "TimedOut");
}

/** First the status remembers the failure, then the next try is made: its name follows from that number. */
function afterFailure(job: JobView, seen: Seen, now: Date): Decision {
  const reason = job.state === "TimedOut" ? reasons.jobTimeout : reasons.jobFailed;
  const why = because(reason, `Job ${job.jobName} of stage ${job.stage}: ${job.message ?? "the job failed"}`);
  if (job.triesLeft <= 0) return afterFailedJob(seen, now, why);
  return { phase: "RunningJobs", outcome: waiting(why, atOnceMs) };
}
