import type { InstallPlan, ResourceManifest } from "@quartermaster/api";
import type { Kind, KubeObject } from "@quartermaster/runtime";

import type { JobView } from "./jobs/job-view.ts";
import type { OwnerLabels } from "./ownership/owner-labels.ts";
import type { MemberView } from "./seen.ts";

/** One write, as plain data. */
export type PlanAction =
  /** Server-side apply with the account's permissions; also heals what drifted. */
  | {
      readonly kind: "apply";
      readonly plan: InstallPlan;
      readonly ownerLabels: OwnerLabels;
      readonly view: MemberView;
      readonly isRepair: boolean;
    }
  | {
      readonly kind: "delete";
      readonly plan: InstallPlan;
      readonly target: Target;
      readonly propagation: "Background" | "Foreground" | "Orphan";
    }
  /** Our owner labels and fields are given up; the object stays. */
  | { readonly kind: "release"; readonly plan: InstallPlan; readonly target: Target }
  | {
      readonly kind: "createJob";
      readonly plan: InstallPlan;
      readonly ownerLabels: OwnerLabels;
      readonly job: JobView;
    }
  | {
      readonly kind: "deleteJob";
      readonly plan: InstallPlan;
      readonly job: Pick<JobView, "jobName" | "live">;
    }
  /** The plan becomes an owner of a manifest that it refers to. */
  | { readonly kind: "claimManifest"; readonly plan: InstallPlan; readonly manifest: ResourceManifest }
  /** A plan that is over and beyond `historyLimit` goes; it owns nothing any more. */
  | { readonly kind: "forgetPlan"; readonly past: InstallPlan }
  /** Reports to users what was read differently from what the plan says. */
  | {
      readonly kind: "warn";
      readonly plan: InstallPlan;
      readonly reason:
        | "ContentAdjusted"
        | "NotReplaced"
        | "NotForgotten"
        | "NotPreviewed"
        | "Orphaned"
        | "Protected";
      readonly warnings: readonly string[];
    }
  /** Reports to metrics how long a stage took. */
  | { readonly kind: "reportStage"; readonly tookMs: number }
  /** Takes progress out of the status of a plan that has not started: somebody else wrote it there. */
  | { readonly kind: "dropProgress"; readonly plan: InstallPlan }
  /** What went wrong before is tried anew. */
  | { readonly kind: "forgetWriteFailures"; readonly plan: InstallPlan };

/** A live object that a write means. */
export interface Target {
  readonly kind: Kind;
  readonly live: KubeObject;
}
