import type { InstallPlan } from "@quartermaster/api";

import type { PlanAction } from "./plan-action.ts";
import { attemptOf, hasStarted, isInstalled } from "./progress.ts";

/** Told of what metrics count. All hooks are optional, must be quick and must not throw. */
export interface PlanObserver {
  /** A write of a plan was carried out; ones that the server refused count too. */
  wrote?(verb: WriteVerb): void;
  /** What somebody changed or deleted was put right. */
  repaired?(how: Repair): void;
  /** A stage, its jobs included, was passed. Only stages that began and ended under our eyes are told. */
  stagePassed?(durationMs: number): void;
}

/** How an object was written. */
export type WriteVerb = "apply" | "create" | "patch" | "delete";

/** What became of an object that was not as applied. */
export type Repair = "reverted" | "recreated";

/** The verb of each action that writes. */
export const verbsOfActions: Readonly<Partial<Record<PlanAction["kind"], WriteVerb>>> = {
  apply: "apply",
  createJob: "create",
  claimManifest: "patch",
  release: "patch",
  delete: "delete",
  deleteJob: "delete",
};

/** How long a plan's stages take. */
export class StageClock {
  #current: { readonly stage: string; readonly attempt: number; readonly sinceMs: number } | undefined;

  /** Looks at the plan in each pass. Gives the time of the stage that has been passed since the last look, if one has. */
  look(plan: InstallPlan, nowMs: number): number | undefined {
    const before = this.#current;
    const attempt = attemptOf(plan);
    const stage = stageAtHand(plan);
    if (before !== undefined && before.stage === stage && before.attempt === attempt) return undefined;
    this.#current = stage === undefined ? undefined : { stage, attempt, sinceMs: nowMs };
    return before === undefined || before.attempt !== attempt ? undefined : nowMs - before.sinceMs;
  }
}

/** Undefined before the first stage and after the last one, also while leftovers are being removed. */
function stageAtHand(plan: InstallPlan): string | undefined {
  if (!hasStarted(plan) || isInstalled(plan)) return undefined;
  return plan.spec.stages.find(({ name }) => name === plan.status?.stage)?.name;
}
