import {
  cel,
  type CustomResource,
  defineCustomResource,
  int32,
  listSet,
  type ObjectOf,
  timestamp,
} from "@quartermaster/runtime/schema";
import { z } from "zod";

import { conditions, observedGeneration } from "../condition.ts";
import {
  dateRules,
  licenseColumns,
  licenseState,
  limitRules,
  objectName,
  signatureRef,
  stackFields,
  stateTimes,
} from "./license-fields.ts";
import { LICENSING_GROUP } from "./license-names.ts";

/** Spec of a ClusterLicense. */
const clusterLicenseSpec = cel(
  z.strictObject({
    ...stackFields,
    signatureRef: signatureRef.describe("Secret with the signature of the license."),
  }),
  ...dateRules,
  ...limitRules,
);

const clusterLicenseStatus = z.strictObject({
  observedGeneration,
  conditions,
  state: licenseState.optional(),
  ...stateTimes,
  effectiveExpiryTime: timestamp()
    .optional()
    .describe(
      "When the license or the EnterpriseLicense that it is copied from expires, whichever is earlier.",
    ),
  licenseVersion: int32().optional().describe("Version of the license format, from the signature."),
  boundClusters: listSet(objectName)
    .max(100)
    .optional()
    .describe("Clusters of the namespace that use the license. At most 100."),
});

/** A ClusterLicense as the API server returns it. */
export type ClusterLicense = ObjectOf<typeof clusterLicenseSpec, typeof clusterLicenseStatus>;

/** A license of Elasticsearch for the clusters of its namespace. */
export const clusterLicense: CustomResource<ClusterLicense> = defineCustomResource({
  group: LICENSING_GROUP,
  version: "v1alpha1",
  kind: "ClusterLicense",
  plural: "clusterlicenses",
  shortNames: ["escl"],
  categories: ["quartermaster"],
  scope: "Namespaced",
  description:
    "ClusterLicense is an Elasticsearch license for clusters of its namespace. If it has the name of an ElasticsearchCluster, it applies to that cluster only and needs no license controller. Its signature is in a Secret.",
  spec: clusterLicenseSpec,
  status: clusterLicenseStatus,
  columns: [
    licenseColumns.type,
    licenseColumns.expires,
    licenseColumns.state,
    { name: "Bound", type: "string", jsonPath: ".status.boundClusters" },
    licenseColumns.age,
    licenseColumns.uid,
    licenseColumns.reason,
  ],
  example: {
    metadata: { name: "logs", namespace: "default" },
    spec: {
      uid: "893361dc-9749-4997-93cb-802e3d7fa4xx",
      type: "standard",
      issueDate: 1_411_948_800_000,
      expiryDate: 1_914_278_399_999,
      maxNodes: 10,
      issuedTo: "Example Corp.",
      issuer: "API",
      signatureRef: { name: "logs-signature" },
    },
  },
});
