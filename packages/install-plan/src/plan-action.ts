import type { InstallPlan, ResourceManifest } from "@quartermaster/api";
import type { Kind, KubeObject } from "@quartermaster/runtime";

import type { JobView } from "./jobs/job-view.ts";
import type { MemberView } from "./seen.ts";

/** One write upon the value that it was decided by, as plain data. */
export type PlanAction =
  | RemovalAction
  /** Server-side apply with the account's permissions; also heals what drifted. */
  | { readonly kind: "apply"; readonly view: MemberView; readonly isRepair: boolean }
  | { readonly kind: "createJob"; readonly job: JobView }
  | { readonly kind: "deleteJob"; readonly job: Pick<JobView, "jobName" | "live"> }
  /** The plan becomes an owner of a manifest that it refers to. */
  | { readonly kind: "claimManifest"; readonly manifest: ResourceManifest }
  /** A plan that is over and beyond `historyLimit` goes; it owns nothing any more. */
  | { readonly kind: "forgetPlan"; readonly past: InstallPlan }
  /** Reports to metrics how long a stage took. */
  | { readonly kind: "reportStage"; readonly tookMs: number }
  /** Takes progress out of the status of a plan that has not started: another client wrote it there. */
  | { readonly kind: "dropProgress" }
  /** Failed writes are tried again. */
  | { readonly kind: "forgetWriteFailures" };

/** The actions by which objects leave a plan; those of a deletion. */
export type RemovalAction =
  | {
      readonly kind: "delete";
      readonly target: Target;
      readonly propagation: "Background" | "Foreground" | "Orphan";
    }
  /** Our owner labels and fields are given up; the object stays. */
  | { readonly kind: "release"; readonly target: Target }
  /** Reports to users what is treated differently from what the plan says. */
  | {
      readonly kind: "warn";
      readonly reason:
        | "ContentAdjusted"
        | "NotReplaced"
        | "NotForgotten"
        | "NotPreviewed"
        | "Orphaned"
        | "Protected";
      readonly warnings: readonly string[];
    };

/** The action of one kind. */
export type ActionOf<K extends PlanAction["kind"]> = Extract<PlanAction, { readonly kind: K }>;

/** A live object that a write means. */
export interface Target {
  readonly kind: Kind;
  readonly live: KubeObject;
}

/** The action that reports warnings; none without any. */
export function warn(report: Omit<ActionOf<"warn">, "kind">): readonly ActionOf<"warn">[] {
  return report.warnings.length === 0 ? [] : [{ kind: "warn", ...report }];
}
