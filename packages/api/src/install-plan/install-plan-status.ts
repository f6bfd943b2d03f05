import { atomicList, int32, listMap, timestamp } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { conditions, observedGeneration } from "../condition.ts";
import { objectIdentity } from "./stage.ts";

const count = int32().min(0).default(0);

const counts = z.strictObject({
  total: count.describe("Number of all resources. Defaults to 0."),
  ready: count.describe("Number of resources that are ready. Defaults to 0."),
  suspended: count.describe("Number of resources that are suspended. Defaults to 0."),
  inProgress: count.describe("Number of resources that are in progress. Defaults to 0."),
  failed: count.describe("Number of resources that have failed. Defaults to 0."),
  missing: count.describe("Number of resources that do not exist. Defaults to 0."),
  drifted: count.describe("Number of resources that differ from what was applied. Defaults to 0."),
  conflict: count.describe(
    "Number of resources that conflict with an object the plan does not own. Defaults to 0.",
  ),
  terminating: count.describe("Number of resources that are being deleted. Defaults to 0."),
  unknown: count.describe(
    "Number of resources whose state is unknown or that are not applied yet. Defaults to 0.",
  ),
});

const resourceState = z.enum([
  "Ready",
  "Suspended",
  "InProgress",
  "Failed",
  "Missing",
  "Drifted",
  "Conflict",
  "Terminating",
  "Unknown",
  "Waiting",
]);

const detail = z.strictObject({
  stage: z.string().describe("Stage of the resource."),
  index: int32().describe("Index of the resource in its stage, from 0."),
  object: objectIdentity.describe("The object."),
  uid: z.string().optional().describe("UID of the live object; only if the plan owns it."),
  state: resourceState.describe("State of the resource."),
  action: z
    .enum(["create", "update", "adopt", "takeover", "recreate", "noop", "deferred", "conflict"])
    .optional()
    .describe(
      "What the plan does to the object next, according to its lifecycle policy. noop: nothing. conflict: the lifecycle policy does not allow the plan to change it.",
    ),
  reason: z.string().optional().describe("Reason for the state, one CamelCase word."),
  message: z.string().max(256).optional().describe("Human-readable explanation. At most 256 characters."),
  since: timestamp().optional().describe("When the resource entered this state."),
  otherManager: z.string().optional().describe("Field manager that changed the object."),
  fields: atomicList(z.string()).max(10).optional().describe("Fields concerned. At most 10."),
});

const jobStatus = z.strictObject({
  stage: z.string().describe("Stage of the job."),
  name: z.string().describe("Name of the job in the plan."),
  jobName: z
    .string()
    .optional()
    .describe("Name of the Job object. Absent if the Job has ended and is not kept."),
  attempt: int32()
    .default(0)
    .describe("Number of the current try, counted over all attempts of the plan. Defaults to 0."),
  planAttempt: int32().optional().describe("Attempt of the plan that the current try belongs to."),
  tries: int32()
    .optional()
    .describe("Number of tries in that attempt of the plan, including the current one."),
  state: z
    .enum(["Waiting", "Running", "Succeeded", "Failed", "TimedOut"])
    .describe("State of the current try."),
  startedAt: timestamp().optional().describe("When the current try was first observed running."),
  finishedAt: timestamp().optional().describe("When the current try was first observed finished."),
  message: z.string().max(256).optional().describe("Why the job failed. At most 256 characters."),
});

const previewDetail = z.strictObject({
  stage: z.string().describe("Stage of the resource."),
  index: int32().describe("Index of the resource in its stage, from 0."),
  object: objectIdentity.describe("The object."),
  action: z
    .enum(["create", "update", "adopt", "takeover", "recreate", "noop", "delete", "deferred"])
    .describe("What the plan is going to do to the object."),
});

const preview = z.strictObject({
  digest: z.string().describe("Digest of the preview, for spec.approvedPreview."),
  create: count.describe("Number of objects to create. Defaults to 0."),
  update: count.describe("Number of objects to update. Defaults to 0."),
  adopt: count.describe("Number of existing objects to adopt. Defaults to 0."),
  takeover: count.describe("Number of objects to take over from replaced plans. Defaults to 0."),
  recreate: count.describe("Number of objects to delete and create again. Defaults to 0."),
  noop: count.describe("Number of objects that do not change. Defaults to 0."),
  delete: count.describe("Number of objects to delete. Defaults to 0."),
  deferred: count.describe("Number of objects that cannot be previewed yet. Defaults to 0."),
  details: atomicList(previewDetail).max(100).optional().describe("The action for each object. At most 100."),
});

const missingPermission = z.strictObject({
  verb: z.string().describe("Verb that is not allowed."),
  group: z.string().describe("API group of the resource; empty for the core group."),
  resource: z.string().describe("Plural name of the resource."),
  namespace: z.string().optional().describe("Namespace of the request; not set if it is cluster-scoped."),
  name: z.string().optional().describe("Name of the object, if the permission is needed for one object."),
});

const blocker = z.strictObject({
  object: objectIdentity.describe("The object that still exists."),
  finalizers: atomicList(z.string()).optional().describe("Finalizers of the object."),
  since: timestamp().optional().describe("When the deletion of the object started."),
});

/** Limited so that the whole status fits into one object. */
const uids = atomicList(z.string()).max(500).optional();

const pinned = z.strictObject({
  deletions: uids.describe("UIDs of the objects that transformations may delete. At most 500."),
  adoptions: uids.describe(
    "UIDs of the objects that the plan may adopt; only with approval: Manual. At most 500.",
  ),
});

/** The phases of a plan, in the order in which it usually goes through them. */
export const planPhases = [
  "Resolving",
  "Validating",
  "Invalid",
  "Forbidden",
  "AwaitingApproval",
  "Applying",
  "RunningJobs",
  "Finishing",
  "Installed",
  "Degraded",
  "Failed",
  "Paused",
  "Replacing",
  "Superseded",
  "Deleting",
] as const;

/** One of them. */
export type PlanPhase = (typeof planPhases)[number];

/** Status of a plan. */
export const installPlanStatus = z.strictObject({
  observedGeneration,
  phase: z
    .enum(planPhases)
    .optional()
    .describe("One-word summary for humans. Tools should read the conditions."),
  message: z
    .string()
    .max(1024)
    .optional()
    .describe("Human-readable explanation of the phase. At most 1024 characters."),
  attempt: int32().optional().describe("Number of the current attempt, from 1."),
  lastHandledRetry: z
    .string()
    .max(64)
    .optional()
    .describe(
      "The last value of the annotation install.quartermaster.dev/retry that was acted on. Each value counts once. At most 64 characters.",
    ),
  stage: z.string().optional().describe("The current stage."),
  stageStartedAt: timestamp()
    .optional()
    .describe("When the current stage started. Its timeoutSeconds count from here."),
  startedAt: timestamp().optional().describe("When the plan started to write."),
  finishedAt: timestamp().optional().describe("When the plan was installed."),
  revision: int32()
    .optional()
    .describe("Revision of the plan: one more than the highest revision of the plans that it replaces."),
  serviceAccountUid: z
    .string()
    .optional()
    .describe(
      "UID of the ServiceAccount whose permissions were checked. A different ServiceAccount with the same name is not trusted unless the annotation install.quartermaster.dev/trust names its UID.",
    ),
  restored: z
    .string()
    .max(64)
    .optional()
    .describe(
      "UID of the plan when its restored objects had been taken back. The annotation install.quartermaster.dev/restore has no effect from then on. At most 64 characters.",
    ),
  namespaces: listMap(
    z.strictObject({
      name: z.string().describe("Name of the namespace."),
      uid: z.string().describe("UID of the namespace."),
    }),
    ["name"],
  )
    .max(500)
    .optional()
    .describe(
      "Namespaces of the objects as first observed, while the plan is being applied. The plan does not write to a different namespace with the same name. At most 500.",
    ),
  contentDigest: z.string().optional().describe("Digest of all manifests, set at the first attempt."),
  objects: z
    .string()
    .max(32)
    .optional()
    .describe("Ready or suspended resources out of all, e.g. 7/8. At most 32 characters."),
  counts: counts.optional().describe("Number of resources by state."),
  states: atomicList(z.string())
    .max(50)
    .optional()
    .describe(
      "One string per stage, one character per resource: R ready, S suspended, P in progress, F failed, M missing, D drifted, C conflict, T terminating, U unknown, - not applied yet. At most 50 stages.",
    ),
  details: atomicList(detail)
    .max(100)
    .optional()
    .describe("Resources that are not ready, worst first. At most 100."),
  jobs: atomicList(jobStatus).max(500).optional().describe("Status of the jobs. At most 500."),
  preview: preview.optional().describe("What the plan is going to do, determined by a dry run."),
  approvedPreview: z
    .string()
    .optional()
    .describe(
      "Digest of the preview that an approval without spec.approvedPreview covers: the one in the status when the approval was first observed.",
    ),
  pinned: pinned
    .optional()
    .describe(
      "Objects that the plan may delete or adopt, fixed when it starts and kept until it is installed. Objects that appear later are left alone.",
    ),
  permissions: z
    .strictObject({
      checkedAt: timestamp().optional().describe("When the permissions were last checked."),
      missing: atomicList(missingPermission)
        .max(200)
        .optional()
        .describe("Missing permissions. At most 200."),
    })
    .optional()
    .describe("All permissions that the service account lacks."),
  replaces: listMap(
    z.strictObject({
      name: z.string().describe("Name of the replaced plan."),
      uid: z.string().optional().describe("UID of the replaced plan."),
      state: z
        .enum(["Pending", "Releasing", "Superseded", "Gone"])
        .describe("State of the handover. Gone: the replaced plan does not exist."),
    }),
    ["name"],
  )
    .max(50)
    .optional()
    .describe("Plans that this plan replaces. At most 50."),
  replacedBy: z
    .strictObject({
      name: z.string().describe("Name of the new plan."),
      uid: z.string().describe("UID of the new plan."),
      state: z.enum(["InProgress", "Done"]).describe("State of the handover."),
    })
    .optional()
    .describe("The plan that replaces this plan."),
  deletion: z
    .strictObject({
      remaining: int32().default(0).describe("Number of objects that still exist. Defaults to 0."),
      blockedBy: atomicList(blocker)
        .max(20)
        .optional()
        .describe("Objects that block the deletion. At most 20."),
      orphan: z
        .boolean()
        .optional()
        .describe(
          "The plan was deleted with --cascade=orphan: its objects stay and lose their owner labels.",
        ),
    })
    .optional()
    .describe("Progress of the deletion."),
  conditions,
});
