import { type CustomResource, defineCustomResource, type ObjectOf } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { conditions } from "../condition.ts";
import { namespaceName, objectName } from "./local-reference.ts";

const shareSpec = z.strictObject({
  backingResource: z
    .strictObject({
      kind: z.enum(["Secret", "ConfigMap"]).describe("Kind of the object: Secret or ConfigMap."),
      apiVersion: z.enum(["v1"]).default("v1").describe("API version of the object. Defaults to v1."),
      name: objectName.describe("Name of the object. At most 253 characters."),
      namespace: namespaceName.describe("Namespace of the object."),
    })
    .describe("The object whose keys become files."),
  description: z.string().max(1024).optional().describe("What the Share is for. At most 1024 characters."),
});

const shareStatus = z.strictObject({ conditions });

/** A Share as the API server returns it. */
export type Share = ObjectOf<typeof shareSpec, typeof shareStatus>;

/** Makes one Secret or ConfigMap mountable in other namespaces through the share driver. */
export const share: CustomResource<Share> = defineCustomResource({
  group: "projectedresource.storage.openshift.io",
  version: "v1alpha1",
  kind: "Share",
  plural: "shares",
  categories: ["quartermaster"],
  scope: "Cluster",
  description:
    "Share makes one Secret or ConfigMap mountable in pods of other namespaces whose service account may use the Share.",
  spec: shareSpec,
  status: shareStatus,
  columns: [
    { name: "Kind", type: "string", jsonPath: ".spec.backingResource.kind" },
    { name: "Namespace", type: "string", jsonPath: ".spec.backingResource.namespace" },
    { name: "Name", type: "string", jsonPath: ".spec.backingResource.name" },
    { name: "Available", type: "string", jsonPath: '.status.conditions[?(@.type=="Available")].status' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  example: {
    metadata: { name: "cluster-subscription-entitlement" },
    spec: {
      backingResource: { kind: "Secret", name: "etc-pki-entitlement", namespace: "openshift-config" },
    },
  },
});
