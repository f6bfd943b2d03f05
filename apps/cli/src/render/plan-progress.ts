import type { InstallPlan, PlanPhase } from "@quartermaster/api";

import { isReady } from "./status-tree.ts";

/** Where a plan is, as far as it decides whether to wait for it. */
export type PlanProgress =
  | "ready"
  /** The operator has not seen the plan as it is now, or is still checking it. */
  | "undecided"
  /** All checks have passed. */
  | "underWay"
  /** Somebody has to act before it can become ready; or it never will, because another plan has replaced it. */
  | "stuck";

/** By the phase of the plan. */
export function progressOf(plan: InstallPlan): PlanProgress {
  if (isReady(plan)) return "ready";
  const { metadata, status } = plan;
  const isSeen = status?.observedGeneration === metadata.generation;
  if (status?.phase === undefined || !isSeen || checking.has(status.phase)) return "undecided";
  return stuck.has(status.phase) ? "stuck" : "underWay";
}

/** Permissions and kinds that have just come are in the server's answers a little later: a first look may be wrong. */
const stuckLooks = 5;

/** Decides, look by look, whether a watch is over: by the progress of the plan, or when several looks in a row find it stuck. */
export function watchEnd(isOver: (progress: PlanProgress) => boolean): (plan: InstallPlan) => boolean {
  let stuckFor = 0;
  return (plan) => {
    const progress = progressOf(plan);
    stuckFor = progress === "stuck" ? stuckFor + 1 : 0;
    return progress === "stuck" ? stuckFor >= stuckLooks : isOver(progress);
  };
}

const checking: ReadonlySet<PlanPhase> = new Set(["Resolving", "Validating"]);
const stuck: ReadonlySet<PlanPhase> = new Set(["Invalid", "Forbidden", "Failed", "Paused", "Superseded"]);
