import type { PlanAction } from "./plan-action.ts";

/** Hooks for metrics. All hooks are optional, must be quick and must not throw. */
export interface PlanObserver {
  /** A write of a plan was carried out; ones that the server refused count too. */
  wrote?(verb: WriteVerb): void;
  /** What somebody changed or deleted was put right. */
  repaired?(how: Repair): void;
  /** A stage, its jobs included, was passed. A process that came in the middle knows of its beginning only the second. */
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
  forgetPlan: "delete",
};
