import {
  cel,
  type CustomResource,
  defineCustomResource,
  int32,
  int64,
  listMap,
  map,
  type ObjectOf,
  timestamp,
} from "@quartermaster/runtime/schema";
import { z } from "zod";

import { conditions, observedGeneration } from "../condition.ts";
import {
  licenseFields,
  dateRules,
  licenseColumns,
  licenseState,
  nestedLicense,
  objectName,
  signatureRef,
  stateTimes,
} from "./license-fields.ts";
import { LICENSING_GROUP } from "./license-names.ts";

const requirement = z.strictObject({
  key: z.string().min(1).max(317).describe("Key of the label."),
  operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]).describe("In, NotIn, Exists or DoesNotExist."),
  values: z.array(z.string().max(63)).max(64).optional().describe("Values for In and NotIn. At most 64."),
});

const capacityPolicy = z
  .strictObject({
    mode: z
      .enum(["Report", "Warn", "Enforce"])
      .default("Warn")
      .describe(
        "What the controller does when more is used than the limit. Report only counts. Warn also sets CapacityOK to False and records an event. Enforce gives no license to clusters beyond the limit; clusters that already use the license keep it and do not grow beyond the limit. Defaults to Warn.",
      ),
    limit: int32()
      .min(0)
      .optional()
      .describe("Limit below maxInstances or maxResourceUnits, in the same unit. Defaults to that field."),
    limitPerNamespace: int32()
      .min(1)
      .optional()
      .describe(
        "Number of nodes, or of units of 64 GiB memory, that the clusters of one namespace may use. Only allowed with mode Enforce. Defaults to no limit.",
      ),
    overdraftPercent: int32()
      .min(0)
      .max(100)
      .default(0)
      .describe("How far use may exceed the limit, in percent. Defaults to 0. At most 100."),
  })
  .optional()
  .describe("What happens when more is used than the license covers.");

/** Spec of an EnterpriseLicense. */
const enterpriseLicenseSpec = cel(
  z.strictObject({
    ...licenseFields,
    type: z
      .enum(["enterprise", "enterprise_trial", "enterprise-trial"])
      .describe("Type of the license: enterprise or enterprise_trial. enterprise-trial means the latter."),
    maxInstances: int32()
      .min(1)
      .optional()
      .describe(
        "Number of Elasticsearch nodes that the license covers. Either this or maxResourceUnits is required.",
      ),
    maxResourceUnits: int32()
      .min(1)
      .optional()
      .describe(
        "Number of units of 64 GiB memory that the license covers. Either this or maxInstances is required.",
      ),
    signatureRef: signatureRef.describe(
      "Secret with the signature of the license. The key defaults to outer, or to the only key of the Secret.",
    ),
    clusterLicenses: listMap(nestedLicense, ["uid"])
      .max(200)
      .optional()
      .describe("Licenses that clusters can get. At most 200."),
    eula: z
      .strictObject({
        accepted: z.boolean().describe("Whether the terms are accepted. Must be true for a trial."),
      })
      .optional()
      .describe("Terms of a trial."),
    allowedNamespaces: z
      .strictObject({
        matchLabels: map(z.string().max(63)).optional().describe("Labels that a namespace must have."),
        matchExpressions: z
          .array(requirement)
          .max(16)
          .optional()
          .describe("Requirements on the labels of a namespace. At most 16."),
      })
      .optional()
      .describe(
        "Namespaces whose clusters may get a license. Defaults to all, but must be set if capacityPolicy.mode is Enforce; {} means all.",
      ),
    capacityPolicy,
  }),
  ...dateRules,
  {
    rule: "has(self.maxInstances) != has(self.maxResourceUnits)",
    message: "exactly one of maxInstances and maxResourceUnits must be set",
  },
  {
    rule: "self.type == 'enterprise' || (has(self.eula) && self.eula.accepted)",
    message: "eula.accepted must be true for a trial",
  },
  {
    rule: "!has(self.capacityPolicy) || self.capacityPolicy.mode != 'Enforce' || has(self.allowedNamespaces)",
    message:
      "allowedNamespaces is required with capacityPolicy.mode Enforce: any tenant could use the licenses up otherwise; {} allows all namespaces",
    fieldPath: ".allowedNamespaces",
  },
  {
    rule: "!has(self.capacityPolicy) || !has(self.capacityPolicy.limitPerNamespace) || self.capacityPolicy.mode == 'Enforce'",
    message: "needs capacityPolicy.mode Enforce",
    fieldPath: ".capacityPolicy.limitPerNamespace",
  },
  {
    rule: "!has(self.capacityPolicy) || !has(self.capacityPolicy.limit) || self.capacityPolicy.limit <= (has(self.maxInstances) ? self.maxInstances : self.maxResourceUnits)",
    message: "must not be larger than maxInstances or maxResourceUnits",
    fieldPath: ".capacityPolicy.limit",
  },
);

const allocation = z.strictObject({
  namespace: z.string().max(63).describe("Namespace of the cluster."),
  cluster: objectName.describe("Name of the cluster."),
  uid: z.string().max(128).optional().describe("Identifier of the license that the cluster has."),
  amount: int64().optional().describe("Amount that the cluster uses: number of nodes, or bytes of memory."),
  since: timestamp().optional().describe("When the cluster got the license."),
});

const enterpriseLicenseStatus = z.strictObject({
  observedGeneration,
  conditions,
  state: licenseState.optional(),
  ...stateTimes,
  used: int64().optional().describe("Amount in use: number of nodes, or of units of 64 GiB, rounded up."),
  limit: int64().optional().describe("Amount that may be used."),
  usedFraction: z.string().max(32).optional().describe("Amount in use before rounding, as a decimal number."),
  peakUsed: int64().optional().describe("Highest amount that was in use at a time."),
  allocations: listMap(allocation, ["namespace", "cluster"])
    .max(500)
    .optional()
    .describe("Clusters that have a license of this EnterpriseLicense, oldest first. At most 500."),
  nested: listMap(
    z.strictObject({
      uid: z.string().max(128).describe("Identifier of the license."),
      type: z.string().max(64).describe("Type of the license."),
      state: licenseState,
      expiryTime: timestamp()
        .optional()
        .describe("When the license or the EnterpriseLicense expires, whichever is earlier."),
      reason: z.string().max(64).optional().describe("Reason if the state is Invalid, one CamelCase word."),
    }),
    ["uid"],
  )
    .max(200)
    .optional()
    .describe("Licenses that clusters can get. At most 200."),
});

/** An EnterpriseLicense as the API server returns it. */
export type EnterpriseLicense = ObjectOf<typeof enterpriseLicenseSpec, typeof enterpriseLicenseStatus>;

/** The pool: one vendor's license with licenses for clusters in it. */
export const enterpriseLicense: CustomResource<EnterpriseLicense> = defineCustomResource({
  group: LICENSING_GROUP,
  version: "v1alpha1",
  kind: "EnterpriseLicense",
  plural: "enterpriselicenses",
  shortNames: ["esel"],
  categories: ["quartermaster"],
  scope: "Namespaced",
  description:
    "EnterpriseLicense holds licenses that the license controller assigns to ElasticsearchClusters of all namespaces. It takes effect only in the license namespace. `qm license import` creates it from the vendor's file.",
  spec: enterpriseLicenseSpec,
  status: enterpriseLicenseStatus,
  columns: [
    licenseColumns.type,
    licenseColumns.expires,
    { name: "Used", type: "integer", jsonPath: ".status.used" },
    { name: "Limit", type: "integer", jsonPath: ".status.limit" },
    licenseColumns.state,
    licenseColumns.age,
    licenseColumns.uid,
    licenseColumns.reason,
  ],
  example: {
    metadata: { name: "pool", namespace: "quartermaster-licenses" },
    spec: {
      uid: "4c5d6e7f-0000-4000-8000-0123456789ab",
      type: "enterprise",
      issueDate: 1_411_948_800_000,
      expiryDate: 1_914_278_399_999,
      maxInstances: 40,
      issuedTo: "Example Corp.",
      issuer: "API",
      signatureRef: { name: "pool-signatures" },
      clusterLicenses: [
        {
          uid: "893361dc-9749-4997-93cb-802e3d7fa4xx",
          type: "platinum",
          issueDate: 1_411_948_800_000,
          expiryDate: 1_914_278_399_999,
          maxNodes: 100,
          issuedTo: "Example Corp.",
          issuer: "API",
        },
      ],
    },
  },
});
