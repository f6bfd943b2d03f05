import { cel, defineCustomResource, immutable, int32, listMap } from "@quartermaster/runtime/schema";
import type { CustomResource, ObjectOf } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { installPlanStatus } from "./install-plan-status.ts";
import { planLifecycle } from "./lifecycle.ts";
import { dnsLabel, stage } from "./stage.ts";
import { transformation } from "./transformation.ts";

const replaces = z.strictObject({
  plans: listMap(z.strictObject({ name: z.string().min(1).max(253) }), ["name"])
    .max(50)
    .optional(),
  selector: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe("Label selector over plans of the same namespace."),
  finishWhen: z.enum(["Ready", "Applied"]).default("Ready"),
  onFailure: z.enum(["Hold", "Rollback"]).default("Hold"),
});

const deletion = z.strictObject({
  timeoutSeconds: int32().min(0).max(86_400).default(0).describe("0 waits for ever."),
  onTimeout: z.enum(["Wait", "Orphan"]).default("Wait"),
  ifUnauthorized: z.enum(["Block", "Orphan"]).default("Block"),
});

const retry = z.strictObject({
  initialSeconds: int32().min(1).max(3600).default(5),
  maxSeconds: int32().min(1).max(86_400).default(300),
  maxAttempts: int32().min(0).max(10_000).default(0).describe("0 sets no limit."),
});

/** What a plan is to do. Fields that say what is installed cannot be changed; a new plan replaces the old one. */
export const installPlanSpec = cel(
  z.strictObject({
    serviceAccountName: immutable(dnsLabel).describe(
      "Account of the plan's own namespace; everything is written with its rights.",
    ),
    scope: immutable(z.enum(["Namespace", "Cluster"]))
      .default("Namespace")
      .describe("Namespace: every object is in the plan's namespace; an empty one is filled in."),
    approval: immutable(z.enum(["Automatic", "Manual"])).default("Automatic"),
    approved: cel(z.boolean(), {
      rule: "self || !oldSelf",
      message: "an approval cannot be taken back",
    })
      .default(false)
      .describe("Needs the permission `approve` on the plan where config/policy is applied."),
    approvedPreview: z
      .string()
      .max(128)
      .optional()
      .describe(
        "The approval covers the preview with this digest only (default: the preview that the status shows when the approval is first seen).",
      ),
    paused: z.boolean().default(false).describe("Nothing is written; the status stays live."),
    stages: immutable(listMap(stage, ["name"]).min(1).max(50)).describe("Carried out in order."),
    lifecycle: planLifecycle.prefault({}).describe("How the objects are treated; resources may override it."),
    transformations: immutable(listMap(transformation, ["name"]).max(20)).optional(),
    replaces: immutable(replaces)
      .optional()
      .describe("Plans of the same namespace that this one takes over from without a gap."),
    deletion: deletion.prefault({}),
    retry: retry.prefault({}),
    historyLimit: int32().min(0).max(100).default(5).describe("How many superseded predecessors are kept."),
  }),
  {
    rule: "has(self.transformations) == has(oldSelf.transformations)",
    message: "transformations are immutable",
  },
  { rule: "has(self.replaces) == has(oldSelf.replaces)", message: "replaces is immutable" },
);

/** An InstallPlan as the API server returns it. */
export type InstallPlan = ObjectOf<typeof installPlanSpec, typeof installPlanStatus>;

/** Applies a set of manifests in stages, with jobs between them, under one service account's rights. */
export const installPlan: CustomResource<InstallPlan> = defineCustomResource({
  group: "install.quartermaster.dev",
  version: "v1alpha1",
  kind: "InstallPlan",
  plural: "installplans",
  shortNames: ["ip"],
  categories: ["quartermaster"],
  scope: "Namespaced",
  description:
    "Applies a set of manifests in ordered stages with jobs between them, under the rights of one service account.",
  spec: installPlanSpec,
  status: installPlanStatus,
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Stage", type: "string", jsonPath: ".status.stage" },
    { name: "Objects", type: "integer", jsonPath: ".status.counts.total" },
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
