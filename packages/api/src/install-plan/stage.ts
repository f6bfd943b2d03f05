import { atomicList, cel, embedded, int32, listMap, raw } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { resourceLifecycle } from "./lifecycle.ts";

/** A name as labels and DNS take it. */
export const dnsLabel = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

/** Which object is meant, by what it says of itself. */
export const objectIdentity = z.strictObject({
  apiVersion: z.string().min(1).max(317),
  kind: z.string().min(1).max(63),
  namespace: z.string().max(63).optional(),
  name: z.string().min(1).max(253),
});

const manifestRef = z.strictObject({
  name: z.string().min(1).max(253).describe("Name of a ResourceManifest in the plan's namespace."),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe("Digest of its canonical JSON."),
  object: objectIdentity.describe("What it holds; keeps the inventory complete when the manifest is gone."),
});

const check = cel(
  z.strictObject({
    condition: z
      .strictObject({
        type: z.string().min(1).max(316),
        status: z.enum(["True", "False", "Unknown"]).default("True"),
      })
      .optional(),
    fieldsEqual: z
      .strictObject({ a: z.string().max(512), b: z.string().max(512) })
      .optional()
      .describe("Two JSON pointers whose values must be equal."),
    fieldEquals: z.strictObject({ path: z.string().max(512), value: z.string().max(1024) }).optional(),
    cel: z.strictObject({ expression: z.string().min(1).max(4096) }).optional(),
  }),
  {
    rule: "(has(self.condition) ? 1 : 0) + (has(self.fieldsEqual) ? 1 : 0) + (has(self.fieldEquals) ? 1 : 0) + (has(self.cel) ? 1 : 0) == 1",
    message: "exactly one of condition, fieldsEqual, fieldEquals, cel",
  },
);

const readiness = cel(
  z.strictObject({
    mode: z
      .enum(["Default", "Ignore", "LoadBalancer", "Checks"])
      .default("Default")
      .describe("By what the resource counts as ready."),
    checks: atomicList(check).max(10).optional().describe("All must hold; only with mode Checks."),
  }),
  {
    rule: "self.mode == 'Checks' ? has(self.checks) && size(self.checks) > 0 : !has(self.checks)",
    message: "checks go with mode Checks, and only with it",
  },
);

const resource = cel(
  z.strictObject({
    manifest: embedded().optional().describe("The object itself."),
    manifestRef: manifestRef.optional().describe("The object in a ResourceManifest."),
    lifecycle: resourceLifecycle.optional().describe("Overrides the plan's lifecycle field by field."),
    readiness: readiness.optional(),
  }),
  { rule: "has(self.manifest) != has(self.manifestRef)", message: "exactly one of manifest, manifestRef" },
);

const job = z.strictObject({
  name: dnsLabel,
  template: raw().describe("Spec of the Job."),
  timeoutSeconds: int32().min(1).max(86_400).default(600),
  attempts: int32().min(1).max(20).default(1),
  onFailure: z.enum(["Fail", "Continue"]).default("Fail"),
  keep: z
    .enum(["OnFailure", "Always", "Never"])
    .default("OnFailure")
    .describe("When the Job stays after it has ended."),
});

/** One stage: its resources are applied, waited for, then its jobs run one after the other. */
export const stage = z.strictObject({
  name: dnsLabel,
  resources: atomicList(resource).max(500).optional(),
  wait: z
    .enum(["Ready", "Applied"])
    .default("Ready")
    .describe("What opens the gate to the stage's jobs and to the next stage."),
  timeoutSeconds: int32()
    .min(1)
    .max(86_400)
    .default(600)
    .describe("From the first write of the stage in this attempt."),
  concurrency: int32()
    .min(1)
    .max(16)
    .default(1)
    .describe("1 keeps strict order of the list; more gives it up inside the stage."),
  jobs: listMap(job, ["name"]).max(10).optional(),
});
