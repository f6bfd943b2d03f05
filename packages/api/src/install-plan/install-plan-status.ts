import { atomicList, int32, int64, listMap, timestamp } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { conditions } from "../condition.ts";
import { objectIdentity } from "./stage.ts";

const count = int32().min(0).default(0);

const counts = z.strictObject({
  total: count,
  ready: count,
  suspended: count,
  inProgress: count,
  failed: count,
  missing: count,
  drifted: count,
  conflict: count,
  terminating: count,
  unknown: count,
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
  stage: z.string(),
  index: int32(),
  object: objectIdentity,
  uid: z.string().optional(),
  state: resourceState,
  action: z
    .enum(["create", "update", "adopt", "takeover", "recreate", "noop", "deferred", "conflict"])
    .optional()
    .describe(
      "What the plan does to it next, by its knobs. noop: nothing. conflict: a knob forbids to touch it.",
    ),
  reason: z.string().optional(),
  message: z.string().max(256).optional(),
  since: timestamp().optional(),
  otherManager: z.string().optional(),
  fields: atomicList(z.string()).max(10).optional(),
});

const jobStatus = z.strictObject({
  stage: z.string(),
  name: z.string(),
  jobName: z.string().optional(),
  attempt: int32().default(0),
  state: z.enum(["Waiting", "Running", "Succeeded", "Failed", "TimedOut"]),
  startedAt: timestamp().optional(),
  finishedAt: timestamp().optional(),
  message: z.string().max(256).optional(),
});

const previewDetail = z.strictObject({
  stage: z.string(),
  index: int32(),
  object: objectIdentity,
  action: z.enum(["create", "update", "adopt", "takeover", "recreate", "noop", "delete", "deferred"]),
});

const preview = z.strictObject({
  digest: z.string(),
  create: count,
  update: count,
  adopt: count,
  takeover: count,
  recreate: count,
  noop: count,
  delete: count,
  deferred: count,
  details: atomicList(previewDetail).max(100).optional(),
});

const missingPermission = z.strictObject({
  verb: z.string(),
  group: z.string(),
  resource: z.string(),
  namespace: z.string().optional(),
  name: z.string().optional(),
});

const blocker = z.strictObject({
  object: objectIdentity,
  finalizers: atomicList(z.string()).optional(),
  since: timestamp().optional(),
});

/** At most so many of each fit into a status beside everything else. */
const uids = atomicList(z.string()).max(500).optional();

const pinned = z.strictObject({
  deletions: uids.describe("What transformations may delete, by uid."),
  adoptions: uids.describe("What the plan may adopt, by uid; after a manual approval only."),
});

/** What a plan tells of itself. */
export const installPlanStatus = z.strictObject({
  observedGeneration: int64().optional(),
  phase: z.string().optional().describe("One word for people; tools read the conditions."),
  message: z.string().max(1024).optional(),
  attempt: int32().optional(),
  stage: z.string().optional().describe("The stage being worked on."),
  stageStartedAt: timestamp()
    .optional()
    .describe("When work on that stage began; its deadline counts from here."),
  startedAt: timestamp().optional(),
  finishedAt: timestamp().optional(),
  revision: int32()
    .optional()
    .describe("One more than the highest revision among the plans that this one replaces."),
  serviceAccountUid: z
    .string()
    .optional()
    .describe("The account that the rights were checked for; another one of its name is not trusted."),
  namespaces: listMap(z.strictObject({ name: z.string(), uid: z.string() }), ["name"])
    .max(500)
    .optional()
    .describe(
      "While the plan is carried out: the namespaces of its objects as they were first seen. Another one of the name is not written to.",
    ),
  contentDigest: z.string().optional().describe("Digest over all manifests, fixed at the first attempt."),
  counts: counts.optional().describe("Exact numbers of resources by state."),
  states: atomicList(z.string())
    .max(50)
    .optional()
    .describe(
      "One string per stage, one character per resource: R ready, S suspended, P in progress, F failed, M missing, D drifted, C conflict, T terminating, U unknown, - not yet.",
    ),
  details: atomicList(detail).max(100).optional().describe("The resources that are not ready, worst first."),
  jobs: atomicList(jobStatus).max(500).optional(),
  preview: preview.optional(),
  approvedPreview: z
    .string()
    .optional()
    .describe(
      "The preview that an approval without spec.approvedPreview covers: the one that was shown when the approval was first seen.",
    ),
  pinned: pinned
    .optional()
    .describe("While the plan is carried out: objects fixed at its start. What comes later is left alone."),
  permissions: z
    .strictObject({
      checkedAt: timestamp().optional(),
      missing: atomicList(missingPermission).max(200).optional(),
    })
    .optional()
    .describe("Every right the service account lacks, not only the first."),
  replaces: listMap(
    z.strictObject({
      name: z.string(),
      uid: z.string().optional(),
      state: z.enum(["Pending", "Releasing", "Superseded", "Gone"]),
    }),
    ["name"],
  )
    .max(50)
    .optional(),
  replacedBy: z
    .strictObject({ name: z.string(), uid: z.string(), state: z.enum(["InProgress", "Done"]) })
    .optional(),
  deletion: z
    .strictObject({
      remaining: int32().default(0),
      blockedBy: atomicList(blocker).max(20).optional(),
      orphan: z
        .boolean()
        .optional()
        .describe("The plan was deleted with cascade=orphan: its objects lose their marks and stay."),
    })
    .optional(),
  conditions,
});
