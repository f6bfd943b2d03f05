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
    .describe("The cluster that gets the licence."),
  licenseRef: z
    .strictObject({
      kind: z.enum(["ClusterLicense"]).default("ClusterLicense").describe("Always ClusterLicense."),
      name: objectName.describe("Name of the ClusterLicense, in the same namespace."),
      uid: licenseUid
        .optional()
        .describe(
          "Identifier that the licence must have. Defaults to whatever it has. At most 128 characters.",
        ),
    })
    .describe("The licence that the cluster gets."),
  origin: z
    .enum(["Controller", "User"])
    .default("User")
    .describe("Who made the association. Only the licence controller writes Controller. Defaults to User."),
  pinned: z
    .boolean()
    .default(false)
    .describe(
      "Whether other licences are left out of the choice. Ignored if several associations of a cluster are pinned. Defaults to false.",
    ),
  source: z
    .strictObject({
      namespace: namespaceNameOrEmpty().describe("Namespace of the EnterpriseLicense."),
      name: objectName.describe("Name of the EnterpriseLicense."),
      uid: licenseUid.describe("Identifier of the EnterpriseLicense."),
      since: timestamp().describe("Since when the cluster has a licence of it."),
      grantedNodes: int32()
        .min(0)
        .optional()
        .describe(
          "Nodes for which the EnterpriseLicense had room when the cluster last asked. The cluster does not grow beyond them. Only where capacityPolicy.mode is Enforce.",
        ),
    })
    .optional()
    .describe(
      "The EnterpriseLicense that the licence is copied from; the cluster counts towards its capacity.",
    ),
});

const candidate = z.strictObject({
  uid: z.string().max(128).describe("Identifier of the licence."),
  source: z.string().max(640).describe("Kind, namespace and name of the object that holds it."),
  type: z.string().max(64).describe("Type of the licence."),
  expiry: timestamp().optional().describe("When it ends."),
  verdict: z.string().max(64).describe("Selected, Kept, or why not."),
});

const licenseAssociationStatus = z.strictObject({
  observedGeneration,
  conditions,
  state: z
    .enum(["Pending", "Applied", "Superseded", "Rejected", "Released"])
    .optional()
    .describe(
      "Pending until the engine runs under the licence, then Applied; Superseded by a better one; Rejected if it cannot be used; Released if the cluster is gone.",
    ),
  reason: z.string().max(64).optional().describe("Why, one CamelCase word."),
  message: z.string().max(4096).optional().describe("Why, one sentence."),
  appliedUid: z.string().max(128).optional().describe("Licence that the engine runs under."),
  appliedTime: timestamp().optional().describe("When the engine was first seen with it."),
  explanation: z
    .strictObject({
      time: timestamp().optional().describe("When the choice was last different."),
      parameters: map(z.string().max(64)).optional().describe("The parameters of the choice."),
      decision: z.string().max(64).optional().describe("What was decided, one CamelCase word."),
      candidates: listMap(candidate, ["uid", "source"])
        .max(50)
        .optional()
        .describe("The licences that were considered, best first. At most 50."),
      omitted: int32().optional().describe("How many more were considered."),
    })
    .optional()
    .describe("How the licence was chosen."),
});

/** A LicenseAssociation as the API server returns it. */
export type LicenseAssociation = ObjectOf<typeof licenseAssociationSpec, typeof licenseAssociationStatus>;

/** Says which licence a cluster gets. */
export const licenseAssociation: CustomResource<LicenseAssociation> = defineCustomResource({
  group: LICENSING_GROUP,
  version: "v1alpha1",
  kind: "LicenseAssociation",
  plural: "licenseassociations",
  shortNames: ["esla"],
  categories: ["quartermaster"],
  scope: "Namespaced",
  description:
    "LicenseAssociation says that an ElasticsearchCluster gets a ClusterLicense of its namespace, and explains the choice. The licence controller makes one per cluster; users may add others, of which the best one is taken.",
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
