import { cel, defineCustomResource, int32, listMap } from "@quartermaster/runtime/schema";
import type { CustomResource, ObjectOf } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { objectName } from "../object-name.ts";
import { immutableInPlan, planIsImmutable } from "./immutable-in-plan.ts";
import { installPlanStatus } from "./install-plan-status.ts";
import { planLifecycle } from "./lifecycle.ts";
import { dnsLabel, stage } from "./stage.ts";
import { transformation } from "./transformation.ts";

const replaces = z.strictObject({
  plans: listMap(
    z.strictObject({
      name: objectName().describe("Name of the plan. At most 253 characters."),
    }),
    ["name"],
  )
    .max(50)
    .optional()
    .describe(
      "Plans to replace, by name. A plan that does not exist is reported and not waited for. At most 50.",
    ),
  selector: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe("Label selector for plans to replace in the same namespace. At most 1024 characters."),
  finishWhen: z
    .enum(["Ready", "Applied"])
    .default("Ready")
    .describe(
      "When leftover objects of the replaced plans are deleted. Ready: after all objects of this plan are ready. Applied: after all stages have finished. Defaults to Ready.",
    ),
  onFailure: z
    .enum(["Hold", "Rollback"])
    .default("Hold")
    .describe(
      "What happens when this plan fails. Hold: keeps the objects and retries. Rollback: hands them back to the replaced plans. Defaults to Hold.",
    ),
});

const dependsOn = cel(
  z.strictObject({
    plans: listMap(
      z.strictObject({
        name: objectName().describe("Name of the plan. At most 253 characters."),
      }),
      ["name"],
    )
      .min(1)
      .max(50)
      .optional()
      .describe(
        "Plans to wait for, by name. A plan that was replaced stands for its successor. One that does not exist is waited for. At most 50.",
      ),
    selector: z
      .string()
      .min(1)
      .max(1024)
      .optional()
      .describe(
        "Label selector for plans to wait for in the same namespace. At least one must match. At most 1024 characters.",
      ),
  }),
  { rule: "has(self.plans) || has(self.selector)", message: "at least one of plans, selector" },
);

const deletion = z.strictObject({
  timeoutSeconds: int32()
    .min(0)
    .max(86_400)
    .default(0)
    .describe("Seconds until onTimeout applies. 0 means no timeout. Defaults to 0, at most 86400."),
  onTimeout: z
    .enum(["Wait", "Orphan"])
    .default("Wait")
    .describe(
      "What happens when the deletion exceeds timeoutSeconds. Wait: keeps waiting. Orphan: leaves the remaining objects in the cluster. Defaults to Wait.",
    ),
  ifUnauthorized: z
    .enum(["Block", "Orphan"])
    .default("Block")
    .describe(
      "What happens when the service account is not allowed to delete an object. Block: the deletion waits. Orphan: leaves the object in the cluster. Defaults to Block.",
    ),
});

const retry = z.strictObject({
  initialSeconds: int32()
    .min(1)
    .max(3600)
    .default(5)
    .describe("Seconds before the first retry. Defaults to 5, at most 3600."),
  maxSeconds: int32()
    .min(1)
    .max(86_400)
    .default(300)
    .describe("Maximum seconds between retries. Defaults to 300, at most 86400."),
  maxAttempts: int32()
    .min(0)
    .max(10_000)
    .default(0)
    .describe(
      "Maximum number of attempts. 0 means no limit, but a failed job is then only run again after a user requests it with the annotation install.quartermaster.dev/retry. Defaults to 0, at most 10000.",
    ),
});

/** Spec of a plan. The fields that define what is installed are immutable; a new plan replaces the old one. */
export const installPlanSpec = cel(
  z.strictObject({
    serviceAccountName: immutableInPlan(dnsLabel).describe(
      "ServiceAccount in the plan's namespace. Everything is written with its permissions. A DNS label of at most 63 characters.",
    ),
    scope: immutableInPlan(z.enum(["Namespace", "Cluster"]))
      .default("Namespace")
      .describe(
        "Where the plan may install objects. Namespace: only in its own namespace, which is also set on objects without one. Cluster: in any namespace, and cluster-scoped objects. Defaults to Namespace.",
      ),
    approval: immutableInPlan(z.enum(["Automatic", "Manual"]))
      .default("Automatic")
      .describe(
        "Whether the plan waits for approval before the first write. Automatic: it does not. Manual: it waits for approved: true. Defaults to Automatic.",
      ),
    approved: cel(z.boolean(), {
      rule: "self || !oldSelf",
      message: "an approval cannot be taken back",
    })
      .default(false)
      .describe(
        "Approves the preview. Only used with approval: Manual. Where config/policy is applied, setting it requires the verb `approve` on the plan. Defaults to false.",
      ),
    approvedPreview: z
      .string()
      .max(128)
      .optional()
      .describe(
        "Digest of the preview that the approval covers. Defaults to the preview in the status when the approval is first observed. At most 128 characters.",
      ),
    paused: z
      .boolean()
      .default(false)
      .describe("Stops all writes; the status is still updated. Defaults to false."),
    stages: immutableInPlan(listMap(stage, ["name"]).min(1).max(50)).describe(
      "Stages, applied in order. At least 1, at most 50.",
    ),
    lifecycle: planLifecycle
      .prefault({})
      .describe("Lifecycle policy of the objects. A resource can override it."),
    transformations: immutableInPlan(listMap(transformation, ["name"]).max(20))
      .optional()
      .describe("Existing objects to delete because objects of the plan replace them. At most 20."),
    dependsOn: immutableInPlan(dependsOn)
      .optional()
      .describe(
        "Plans in the same namespace that must be installed and ready before this plan writes anything. Plans that are deleted together are deleted in the reverse order.",
      ),
    replaces: immutableInPlan(replaces)
      .optional()
      .describe("Plans in the same namespace that this plan replaces. It takes over their objects in place."),
    deletion: deletion.prefault({}).describe("How the objects are deleted when the plan is deleted."),
    retry: retry.prefault({}).describe("When a failed attempt is retried."),
    historyLimit: int32()
      .min(0)
      .max(100)
      .default(5)
      .describe("How many superseded plans are kept for rollback. Defaults to 5, at most 100."),
  }),
  {
    rule: "has(self.transformations) == has(oldSelf.transformations)",
    message: `transformations ${planIsImmutable}`,
  },
  { rule: "has(self.replaces) == has(oldSelf.replaces)", message: `replaces ${planIsImmutable}` },
);

/** An InstallPlan as the API server returns it. */
export type InstallPlan = ObjectOf<typeof installPlanSpec, typeof installPlanStatus>;

/** Applies a set of manifests in stages, with jobs between them, with the permissions of one service account. */
export const installPlan: CustomResource<InstallPlan> = defineCustomResource({
  group: "install.quartermaster.dev",
  version: "v1alpha1",
  kind: "InstallPlan",
  plural: "installplans",
  shortNames: ["iplan"],
  categories: ["quartermaster"],
  scope: "Namespaced",
  description:
    "InstallPlan applies a set of manifests in ordered stages, with jobs between them, with the permissions of one service account.",
  spec: installPlanSpec,
  status: installPlanStatus,
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "Objects", type: "string", jsonPath: ".status.objects" },
    { name: "Stage", type: "string", jsonPath: ".status.stage", priority: 1 },
    { name: "Message", type: "string", jsonPath: ".status.message", priority: 1 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  example: {
    metadata: { name: "greeting", namespace: "default" },
    spec: {
      serviceAccountName: "installer",
      stages: [
        {
          name: "config",
          resources: [
            {
              manifest: {
                apiVersion: "v1",
                kind: "ConfigMap",
                metadata: { name: "greeting" },
                data: { text: "hello" },
              },
            },
          ],
        },
      ],
    },
  },
});
