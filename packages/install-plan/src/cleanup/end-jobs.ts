import type { InstallPlan } from "@quartermaster/api";
import type { Context } from "@quartermaster/runtime";

import { trueCondition } from "../health/object-parts.ts";
import { type Job, jobs } from "../world/kinds.ts";
import { trackKinds } from "../world/member-stores.ts";
import { isOwnJob } from "../world/own-job.ts";
import type { DeletionStep } from "./decide-deletion.ts";

/**
 * Jobs of the plan's stages that still run: they go before what they work with does, or they would make anew what was just
 * deleted. Those that have ended go with the plan. Undefined when none runs.
 */
export async function endRunningJobs(
  plan: InstallPlan,
  ctx: Context,
  leftBehind: ReadonlySet<string>,
): Promise<DeletionStep | undefined> {
  const stores = await trackKinds(ctx, [jobs]);
  const running = stores
    .list(jobs)
    .filter((job) => isOwnJob(job, plan) && isRunning(job) && !leftBehind.has(job.metadata.uid ?? ""));
  if (running.length === 0) return undefined;
  return {
    actions: running.map((live) => ({
      kind: "delete",
      plan,
      target: { kind: jobs, live },
      propagation: "Background",
    })),
    inFlight: 4,
    blockedBy: [],
  };
}

function isRunning(job: Job): boolean {
  const hasEnded = ["Complete", "Failed"].some((type) => trueCondition(job, type) !== undefined);
  return !hasEnded && job.metadata.deletionTimestamp === undefined;
}
