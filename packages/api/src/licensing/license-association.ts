import {
  type CustomResource,
  defineCustomResource,
  int32,
  listMap,
  map,
  type ObjectOf,
  timestamp,
} from "@quartermaster/runtime/schema";
import { z } from "zod";

import { conditions, observedGeneration } from "../condition.ts";
import { namespaceNameOrEmpty } from "../object-name.ts";
import { licenseUid, objectName } from "./license-fields.ts";
import { LICENSING_GROUP } from "./license-names.ts";

/** Spec of a LicenseAssociation. */
const licenseAssociationSpec = z.strictObject({
  clusterRef: z
    .strictObject({ name: objectName.describe("Name of the ElasticsearchCluster, in the same namespace.") })
    .describe("Cluster that gets the license."),
  licenseRef: z
    .strictObject({
      kind: z.enum(["ClusterLicense"]).default("ClusterLicense").describe("Always ClusterLicense."),
      name: objectName.describe("Name of the ClusterLicense, in the same namespace."),
      uid: licenseUid
        .optional()
        .describe("Identifier that the license must have. Defaults to any. At most 128 characters."),
    })
    .describe("License that the cluster gets."),
  origin: z
    .enum(["Controller", "User"])
    .default("User")
    .describe(
      "Who created the association. Only the license controller writes Controller. Defaults to User.",
    ),
  pinned: z
    .boolean()
    .default(false)
    .describe(
      "Whether the cluster uses only this license. Ignored if several associations of a cluster are pinned. Defaults to false.",
    ),
  source: z
    .strictObject({
      namespace: namespaceNameOrEmpty().describe("Namespace of the EnterpriseLicense."),
      name: objectName.describe("Name of the EnterpriseLicense."),
      uid: licenseUid.describe("Identifier of the EnterpriseLicense."),
      since: timestamp().describe("When the cluster got a license of it."),
      grantedNodes: int32()
        .min(0)
        .optional()
        .describe(
          "Number of nodes that the EnterpriseLicense last granted to the cluster. The cluster does not grow beyond it. Present only if capacityPolicy.mode is Enforce.",
        ),
    })
    .optional()
    .describe("EnterpriseLicense that the license is copied from. The cluster counts towards its capacity."),
});

const candidate = z.strictObject({
  uid: z.string().max(128).describe("Identifier of the license."),
  source: z.string().max(640).describe("Kind, namespace and name of the object with the license."),
  type: z.string().max(64).describe("Type of the license."),
  expiry: timestamp().optional().describe("When the license expires."),
  verdict: z.string().max(64).describe("Selected, Kept, or the reason why it was not selected."),
});

const licenseAssociationStatus = z.strictObject({
  observedGeneration,
  conditions,
  state: z
    .enum(["Pending", "Applied", "Superseded", "Rejected", "Released"])
    .optional()
    .describe(
      "State of the association. Pending until the engine uses the license, then Applied. Superseded by a better license, Rejected if it cannot be used, Released if the cluster was deleted.",
    ),
  reason: z.string().max(64).optional().describe("Reason for the state, one CamelCase word."),
  message: z.string().max(4096).optional().describe("Human-readable explanation of the state."),
  appliedUid: z.string().max(128).optional().describe("Identifier of the license that the engine uses."),
  appliedTime: timestamp().optional().describe("When the engine was first observed with it."),
  explanation: z
    .strictObject({
      time: timestamp().optional().describe("When the choice last changed."),
      parameters: map(z.string().max(64)).optional().describe("Parameters of the choice."),
      decision: z.string().max(64).optional().describe("Decision, one CamelCase word."),
      candidates: listMap(candidate, ["uid", "source"])
        .max(50)
        .optional()
        .describe("Licenses that were considered, best first. At most 50."),
      omitted: int32().optional().describe("Number of further licenses that were considered."),
    })
    .optional()
    .describe("Explanation of how the license was chosen."),
});

/** A LicenseAssociation as the API server returns it. */
export type LicenseAssociation = ObjectOf<typeof licenseAssociationSpec, typeof licenseAssociationStatus>;

/** Says which license a cluster gets. */
export const licenseAssociation: CustomResource<LicenseAssociation> = defineCustomResource({
  group: LICENSING_GROUP,
  version: "v1alpha1",
  kind: "LicenseAssociation",
  plural: "licenseassociations",
  shortNames: ["esla"],
  categories: ["quartermaster"],
  scope: "Namespaced",
  description:
    "LicenseAssociation assigns a ClusterLicense to an ElasticsearchCluster of the same namespace and explains the choice. The license controller creates one per cluster. Users may add others; the best one is used.",
  spec: licenseAssociationSpec,
  status: licenseAssociationStatus,
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.clusterRef.name" },
    { name: "License", type: "string", jsonPath: ".spec.licenseRef.name" },
    { name: "State", type: "string", jsonPath: ".status.state" },
    { name: "Reason", type: "string", jsonPath: ".status.reason" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "Message", type: "string", jsonPath: ".status.message", priority: 1 },
  ],
  example: {
    metadata: { name: "logs-gold", namespace: "default" },
    spec: { clusterRef: { name: "logs" }, licenseRef: { name: "gold" }, pinned: true },
  },
});
