import type { InstallPlan } from "@quartermaster/api";

import { isLabelledBy } from "../owner-labels.ts";
import type { Job } from "./kinds.ts";

/** Whether a Job was made for a stage of the plan: it has the plan as an owner by uid, and labels that a write of ours set. */
export function isOwnJob(job: Job, plan: InstallPlan): boolean {
  const isOwner = job.metadata.ownerReferences?.some(({ uid }) => uid === plan.metadata.uid) ?? false;
  return isOwner && isLabelledBy(job, plan.metadata);
}
