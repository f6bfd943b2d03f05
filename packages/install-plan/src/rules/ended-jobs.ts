import { unreachable } from "@quartermaster/runtime";

import type { PlanAction } from "../plan-action.ts";
import type { JobView } from "../world/job-view.ts";
import type { Seen } from "../world/seen.ts";

/** Jobs that have ended and are not to be kept: those that can go now, and whether some can only go after this reconcile. */
export interface EndedJobs {
  readonly actions: readonly PlanAction[];
  readonly isMoreToCome: boolean;
}

/** A Job goes only after its end is in the status: otherwise a crash in between would run it again. */
export function endedJobs({ plan, account, jobs }: Seen): EndedJobs {
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
    actions: leaving.filter(isRemembered).map((job) => ({ kind: "deleteJob", plan, job })),
    isMoreToCome: !leaving.every(isRemembered),
  };
}

function isPresent({ live }: JobView): boolean {
  return live !== undefined && live.metadata.deletionTimestamp === undefined;
}

/** One that hangs is never kept: it would run on. */
function isKept({ state, spec: { keep } }: JobView): boolean {
  switch (state) {
    case "Succeeded":
      return keep === "Always";
    case "Failed":
      return keep !== "Never";
    case "TimedOut":
      return false;
    case "Waiting":
    case "Running":
      return true;
    default:
      return unreachable(state);
  }
}
