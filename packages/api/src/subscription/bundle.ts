import {
  cel,
  type CustomResource,
  defineCustomResource,
  int32,
  listMap,
  type ObjectOf,
} from "@quartermaster/runtime/schema";
import { z } from "zod";

import { conditions, observedGeneration } from "../condition.ts";
import {
  fewItems,
  readyColumns,
  localReference,
  someReference,
  SUBSCRIPTION_GROUP,
  trailingColumns,
} from "./local-reference.ts";

/** The name alone tells references apart: all of them are in the Bundle's namespace. */
const references = listMap(localReference, ["name"]).max(32).optional();

/** Spec of a Bundle. */
export const bundleSpec = cel(
  z.strictObject({
    entitlements: references.describe(
      "Secrets with entitlement certificates and keys, mounted at /run/secrets/etc-pki-entitlement. At most 32.",
    ),
    yumRepositories: references.describe(
      "ConfigMaps with .repo files, mounted below /run/secrets. At most 32.",
    ),
    defaultMode: int32()
      .min(0)
      .max(0o777)
      .optional()
      .describe(
        "Permission bits of the mounted files. If the bundles of a pod differ, only bits that all of them set are used. Defaults to 420 (0644). At most 511 (0777).",
      ),
  }),
  someReference,
  ...fewItems,
);

const bundleStatus = z.strictObject({
  observedGeneration,
  conditions,
});

/** A Bundle as the API server returns it. */
export type Bundle = ObjectOf<typeof bundleSpec, typeof bundleStatus>;

const version = {
  spec: bundleSpec,
  status: bundleStatus,
  columns: [...readyColumns, ...trailingColumns],
};

/** Names the entitlements and repositories of one namespace that are injected into its pods. */
export const bundle: CustomResource<Bundle> = defineCustomResource({
  group: SUBSCRIPTION_GROUP,
  version: "v1alpha1",
  kind: "Bundle",
  plural: "bundles",
  categories: ["quartermaster"],
  scope: "Namespaced",
  description:
    "Bundle selects entitlement Secrets and yum repository ConfigMaps of its namespace for injection into pods: pods with the annotation subscription.openshift.io/inject-bundle, or all pods of the namespace if the Bundle has the label subscription.openshift.io/always-inject=true.",
  ...version,
  // The versions of the enhancement proposal's graduation; its samples say v1. All have one schema.
  otherVersions: [
    { version: "v1beta1", ...version },
    { version: "v1", ...version },
  ],
  example: {
    metadata: { name: "subscription", namespace: "default" },
    spec: { entitlements: [{ name: "etc-pki-entitlement" }] },
  },
});
