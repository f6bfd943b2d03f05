import { cel, defineCustomResource, embedded } from "@quartermaster/runtime/schema";
import type { CustomResource, ObjectOf } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { conditions, observedGeneration } from "../condition.ts";
import { objectName } from "../object-name.ts";
import { objectIdentity } from "./stage.ts";

/** No `format: byte`: combined with a CEL rule, the API server accepts only the URL-safe alphabet and rejects `+` and `/`. */
const packedData = z
  .string()
  .max(1_400_000)
  .regex(/^[A-Za-z0-9+/]*={0,2}$/);

/** One manifest that is too large, or too sensitive, to store inline in a plan. */
export const resourceManifestSpec = cel(
  z.strictObject({
    manifest: embedded()
      .optional()
      .describe("The Kubernetes object, inline. Exactly one of manifest, data and secretKeyRef is set."),
    data: packedData
      .optional()
      .describe(
        "The object as JSON, compressed as specified by encoding, then base64-encoded. At most 1400000 characters.",
      ),
    encoding: z
      .enum(["gzip"])
      .optional()
      .describe("Compression of data. Required if data is set, otherwise not allowed."),
    secretKeyRef: z
      .strictObject({
        name: objectName().describe("Name of the Secret. At most 253 characters."),
        key: z
          .string()
          .min(1)
          .max(253)
          .describe("Key in the Secret that holds the object. At most 253 characters."),
      })
      .optional()
      .describe(
        "A key of an immutable Secret in the same namespace. Each plan reads it as its own service account.",
      ),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe(
        "SHA-256 digest of the object's canonical JSON (sorted keys, no insignificant whitespace), in lowercase hexadecimal.",
      ),
  }),
  { rule: "self == oldSelf", message: "a manifest is immutable; create a new one" },
  {
    rule: "(has(self.manifest) ? 1 : 0) + (has(self.data) ? 1 : 0) + (has(self.secretKeyRef) ? 1 : 0) == 1",
    message: "exactly one of manifest, data, secretKeyRef",
  },
  { rule: "has(self.data) == has(self.encoding)", message: "data and encoding go together" },
);

const resourceManifestStatus = z.strictObject({
  observedGeneration,
  valid: z.boolean().optional().describe("Whether the object can be read and matches sha256."),
  reason: z
    .string()
    .max(1024)
    .optional()
    .describe("Why the manifest is not valid, or why that is not known. At most 1024 characters."),
  objectRef: objectIdentity.optional().describe("The object that the manifest holds."),
  conditions,
});

/** A ResourceManifest as the API server returns it. */
export type ResourceManifest = ObjectOf<typeof resourceManifestSpec, typeof resourceManifestStatus>;

/** Stores one manifest for the plans that reference it. */
export const resourceManifest: CustomResource<ResourceManifest> = defineCustomResource({
  group: "install.quartermaster.dev",
  version: "v1alpha1",
  kind: "ResourceManifest",
  plural: "resourcemanifests",
  shortNames: ["rmanifest"],
  categories: ["quartermaster"],
  scope: "Namespaced",
  description:
    "ResourceManifest stores one manifest, identified by its digest, for the InstallPlans that reference it.",
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
