import {
  cel,
  type CustomResource,
  defineCustomResource,
  listMap,
  listSet,
  type ObjectOf,
} from "@quartermaster/runtime/schema";
import { z } from "zod";

import { conditions, observedGeneration } from "../condition.ts";
import {
  clusterReference,
  fewItems,
  readyColumns,
  namespaceName,
  objectName,
  someReference,
  SUBSCRIPTION_GROUP,
  trailingColumns,
} from "./local-reference.ts";

const references = listMap(clusterReference, ["name", "namespace"]).max(32).optional();

/** Spec of a ClusterBundle. */
export const clusterBundleSpec = cel(
  z.strictObject({
    entitlements: references.describe(
      "Secrets with entitlement certificates and keys, mounted at /run/secrets/etc-pki-entitlement. At most 32.",
    ),
    yumRepositories: references.describe(
      "ConfigMaps with .repo files, mounted below /run/secrets. At most 32.",
    ),
    aggregateToClusterRoles: listSet(z.string().min(1).max(253))
      .max(32)
      .optional()
      .describe(
        "ClusterRoles that get the permission to use the bundle by aggregation, e.g. edit. Defaults to the roles in the operator's configuration. At most 32.",
      ),
    shareRetention: z
      .enum(["Immediate"])
      .default("Immediate")
      .describe(
        "When Shares are updated or deleted. Immediate: together with the bundle. Defaults to Immediate.",
      ),
  }),
  someReference,
  ...fewItems,
);

const share = z.strictObject({
  name: objectName.describe("Name of the Share. At most 253 characters."),
  kind: z.string().max(63).optional().describe("Kind of the Share, e.g. Share or SharedSecret."),
  apiVersion: z.string().max(316).optional().describe("API version of the Share."),
  ref: z
    .strictObject({
      kind: z.enum(["Secret", "ConfigMap"]).describe("Kind of the object: Secret or ConfigMap."),
      name: objectName.describe("Name of the object. At most 253 characters."),
      namespace: namespaceName.describe("Namespace of the object."),
    })
    .optional()
    .describe("The object that the Share makes available."),
});

const clusterBundleStatus = z.strictObject({
  observedGeneration,
  clusterRole: z
    .string()
    .max(253)
    .optional()
    .describe("ClusterRole that permits the use of the bundle. At most 253 characters."),
  shares: listMap(share, ["name"])
    .max(64)
    .optional()
    .describe("Shares of the bundle, one per reference. At most 64."),
  conditions,
});

/** A ClusterBundle as the API server returns it. */
export type ClusterBundle = ObjectOf<typeof clusterBundleSpec, typeof clusterBundleStatus>;

const version = {
  spec: clusterBundleSpec,
  status: clusterBundleStatus,
  columns: [
    ...readyColumns,
    { name: "Shares", type: "string", jsonPath: ".status.shares[*].name" },
    ...trailingColumns,
  ],
  rules: [
    {
      rule: "!self.metadata.name.startsWith('openshift')",
      message: "must not start with 'openshift': drivers reserve Shares with such names",
      fieldPath: ".metadata.name",
    },
    {
      rule: "size(self.metadata.name) <= 200",
      message: "must have at most 200 characters: the names of its Shares are longer",
      fieldPath: ".metadata.name",
    },
  ],
} as const;

/** Names entitlements and repositories of any namespace that are injected into the pods that may use them. */
export const clusterBundle: CustomResource<ClusterBundle> = defineCustomResource({
  group: SUBSCRIPTION_GROUP,
  version: "v1alpha1",
  kind: "ClusterBundle",
  plural: "clusterbundles",
  categories: ["quartermaster"],
  scope: "Cluster",
  description:
    "ClusterBundle selects entitlement Secrets and yum repository ConfigMaps of any namespace for injection into pods whose service account may get the ClusterBundle: pods with the annotation subscription.openshift.io/inject-cluster-bundle, or all pods if it has the label subscription.openshift.io/always-inject=true.",
  ...version,
  // The versions of the enhancement proposal's graduation; its samples say v1. All have one schema.
  otherVersions: [
    { version: "v1beta1", ...version },
    { version: "v1", ...version },
  ],
  example: {
    metadata: { name: "cluster" },
    spec: {
      aggregateToClusterRoles: ["edit", "admin"],
      entitlements: [{ name: "etc-pki-entitlement", namespace: "openshift-config" }],
    },
  },
});
