import { atomicList, cel, embedded, int32, listMap, raw } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { anyObjectName, namespaceNameOrEmpty, objectName } from "../object-name.ts";
import { resourceLifecycle } from "./lifecycle.ts";

/** A DNS label (RFC 1123). */
export const dnsLabel = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

/** Identifies an object by its own metadata. */
export const objectIdentity = z.strictObject({
  apiVersion: z.string().min(1).max(317).describe("API version of the object. At most 317 characters."),
  kind: z.string().min(1).max(63).describe("Kind of the object. At most 63 characters."),
  namespace: namespaceNameOrEmpty()
    .optional()
    .describe("Namespace of the object; not set if it is cluster-scoped. At most 63 characters."),
  name: anyObjectName().describe("Name of the object. At most 253 characters."),
});

const manifestRef = z.strictObject({
  name: objectName().describe("Name of a ResourceManifest in the plan's namespace. At most 253 characters."),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe("SHA-256 digest of the manifest's canonical JSON, in lowercase hexadecimal."),
  object: objectIdentity.describe(
    "The object that the ResourceManifest holds. Keeps the inventory complete after the ResourceManifest is deleted.",
  ),
});

const check = cel(
  z.strictObject({
    condition: z
      .strictObject({
        type: z.string().min(1).max(316).describe("Type of the condition. At most 316 characters."),
        status: z
          .enum(["True", "False", "Unknown"])
          .default("True")
          .describe("Required status of the condition. Defaults to True."),
      })
      .optional()
      .describe("A condition that must have the given status."),
    fieldsEqual: z
      .strictObject({
        a: z.string().max(512).describe("JSON pointer to the first field. At most 512 characters."),
        b: z.string().max(512).describe("JSON pointer to the second field. At most 512 characters."),
      })
      .optional()
      .describe("Two fields whose values must be equal."),
    fieldEquals: z
      .strictObject({
        path: z.string().max(512).describe("JSON pointer to the field. At most 512 characters."),
        value: z.string().max(1024).describe("Expected value. At most 1024 characters."),
      })
      .optional()
      .describe("A field that must have the given value."),
    cel: z
      .strictObject({
        expression: z.string().min(1).max(4096).describe("The CEL expression. At most 4096 characters."),
      })
      .optional()
      .describe("A CEL expression that must evaluate to true."),
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
      .describe(
        "How readiness is determined. Default: by the rules for the kind. Ignore: the plan does not wait for the resource. LoadBalancer: a Service or Ingress also needs a load balancer address. Checks: all checks must pass. Defaults to Default.",
      ),
    checks: atomicList(check)
      .max(10)
      .optional()
      .describe("Checks that must all pass. Required with mode Checks, otherwise not allowed. At most 10."),
  }),
  {
    rule: "self.mode == 'Checks' ? has(self.checks) && size(self.checks) > 0 : !has(self.checks)",
    message: "checks are required with mode Checks and not allowed otherwise",
  },
);

const resource = cel(
  z.strictObject({
    manifest: embedded()
      .optional()
      .describe("The Kubernetes object, inline. Exactly one of manifest and manifestRef is set."),
    manifestRef: manifestRef.optional().describe("Reference to a ResourceManifest that holds the object."),
    lifecycle: resourceLifecycle
      .optional()
      .describe("Overrides fields of the plan's lifecycle policy for this resource."),
    readiness: readiness.optional().describe("When the resource counts as ready. Defaults to mode Default."),
  }),
  { rule: "has(self.manifest) != has(self.manifestRef)", message: "exactly one of manifest, manifestRef" },
);

const job = z.strictObject({
  name: dnsLabel.describe("Name of the job, unique in its stage. A DNS label of at most 63 characters."),
  template: raw().describe("Spec of the Job (batch/v1)."),
  timeoutSeconds: int32()
    .min(1)
    .max(86_400)
    .default(600)
    .describe("Seconds that one run of the job may take. Defaults to 600, at most 86400."),
  attempts: int32()
    .min(1)
    .max(20)
    .default(1)
    .describe("How often the job is tried per attempt of the plan. Defaults to 1, at most 20."),
  onFailure: z
    .enum(["Fail", "Continue"])
    .default("Fail")
    .describe(
      "What happens when all attempts have failed. Fail: the attempt of the plan fails. Continue: the plan continues. Defaults to Fail.",
    ),
  keep: z
    .enum(["OnFailure", "Always", "Never"])
    .default("OnFailure")
    .describe(
      "Which finished Jobs are kept. OnFailure: failed ones, including those that timed out. Always: all. Never: none. A Job that Kubernetes does not end at its deadline is always deleted. Defaults to OnFailure.",
    ),
});

/** One stage: applies its resources, waits for them, then runs its jobs one after the other. */
export const stage = z.strictObject({
  name: dnsLabel.describe("Name of the stage, unique in the plan. A DNS label of at most 63 characters."),
  resources: atomicList(resource)
    .max(500)
    .optional()
    .describe("Objects to apply in this stage. At most 500."),
  wait: z
    .enum(["Ready", "Applied"])
    .default("Ready")
    .describe(
      "What the stage waits for before its jobs and the next stage start. Ready: all resources are ready. Applied: all resources are applied. Defaults to Ready.",
    ),
  timeoutSeconds: int32()
    .min(1)
    .max(86_400)
    .default(600)
    .describe(
      "Seconds that the stage may take, counted from its start in the current attempt. Defaults to 600, at most 86400.",
    ),
  concurrency: int32()
    .min(1)
    .max(16)
    .default(1)
    .describe(
      "How many resources are applied or deleted in parallel. 1 applies them in list order; a higher value does not keep the order within the stage. Defaults to 1, at most 16.",
    ),
  jobs: listMap(job, ["name"])
    .max(10)
    .optional()
    .describe("Jobs to run after the resources, one after the other. At most 10."),
});
