import { cel, defineCustomResource, embedded, int64 } from "@quartermaster/runtime/schema";
import type { CustomResource, ObjectOf } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { conditions } from "../condition.ts";
import { objectIdentity } from "./stage.ts";

/** No `format: byte`: with a CEL rule beside it the API server takes only the URL-safe alphabet, and refuses `+` and `/`. */
const packedData = z
  .string()
  .max(1_400_000)
  .regex(/^[A-Za-z0-9+/]*={0,2}$/);

/** One manifest that is too large, or too secret, to stand in a plan. */
export const resourceManifestSpec = cel(
  z.strictObject({
    manifest: embedded().optional().describe("The object itself."),
    data: packedData.optional().describe("The object's JSON, encoded as `encoding` says, in base64."),
    encoding: z.enum(["gzip"]).optional().describe("Goes with data."),
    secretKeyRef: z
      .strictObject({ name: z.string().min(1).max(253), key: z.string().min(1).max(253) })
      .optional()
      .describe("An immutable Secret of the same namespace. Each plan reads it as its own account."),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe("Digest of the canonical JSON: keys sorted, no insignificant space."),
  }),
  { rule: "self == oldSelf", message: "a manifest is immutable; make another" },
  {
    rule: "(has(self.manifest) ? 1 : 0) + (has(self.data) ? 1 : 0) + (has(self.secretKeyRef) ? 1 : 0) == 1",
    message: "exactly one of manifest, data, secretKeyRef",
  },
  { rule: "has(self.data) == has(self.encoding)", message: "data and encoding go together" },
);

const resourceManifestStatus = z.strictObject({
  observedGeneration: int64().optional(),
  valid: z.boolean().optional(),
  reason: z.string().max(1024).optional(),
  objectRef: objectIdentity.optional(),
  conditions,
});

/** A ResourceManifest as the API server returns it. */
export type ResourceManifest = ObjectOf<typeof resourceManifestSpec, typeof resourceManifestStatus>;

/** Holds one manifest for the plans that refer to it. */
export const resourceManifest: CustomResource<ResourceManifest> = defineCustomResource({
  group: "install.quartermaster.dev",
  version: "v1alpha1",
  kind: "ResourceManifest",
  plural: "resourcemanifests",
  shortNames: ["rm"],
  categories: ["quartermaster"],
  scope: "Namespaced",
  description: "Holds one manifest, known by its digest, for the InstallPlans that refer to it.",
  spec: resourceManifestSpec,
  status: resourceManifestStatus,
  columns: [
    { name: "Valid", type: "boolean", jsonPath: ".status.valid" },
    { name: "Kind", type: "string", jsonPath: ".status.objectRef.kind" },
    { name: "Name", type: "string", jsonPath: ".status.objectRef.name" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  example: {
    metadata: { name: "rm-0123456789abcdef", namespace: "default" },
    spec: {
      manifest: {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "greeting" },
        data: { text: "hello" },
      },
      sha256: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    },
  },
});
