import { cel, int32, int64, timestamp } from "@quartermaster/runtime/schema";
import { z } from "zod";

import { objectName as dnsSubdomain } from "../object-name.ts";

/** Types that a license file can have, lowest first. Basic cannot be uploaded, only started. */
export const licenseTypes = ["trial", "standard", "gold", "platinum", "enterprise"] as const;

/** The type of a license that can be uploaded. */
export type LicenseType = (typeof licenseTypes)[number];

/** The name of a Secret, a license or a cluster. */
export const objectName: z.ZodString = dnsSubdomain();

/** Identifier of a license. It is also a key of Secrets, which limits its characters. */
export const licenseUid = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[-._a-zA-Z0-9]+$/);

const moment = (what: string): z.ZodInt =>
  int64().min(0).describe(`${what}, in milliseconds since 1970, exactly as signed.`);

/** Where a signature is kept. */
export const signatureRef = z.strictObject({
  name: objectName.describe(
    "Name of the Secret with the signature, in the namespace of the license, of type license.k8s.elastic.co/signature or Opaque. At most 253 characters.",
  ),
  key: z
    .string()
    .min(1)
    .max(253)
    .regex(/^[-._a-zA-Z0-9]+$/)
    .optional()
    .describe("Key in the Secret. Optional if the Secret has only one key. At most 253 characters."),
  namespace: z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    .optional()
    .describe("Namespace of the Secret. If set, it must be the namespace of the license."),
});

/** Who a license is from and for, and when it holds. */
export const licenseFields = {
  uid: licenseUid.describe(
    "Identifier of the license: letters, digits, dashes, dots and underscores. At most 128 characters.",
  ),
  issueDate: moment("When the license was issued"),
  startDate: moment("When the license starts").optional(),
  expiryDate: moment("When the license expires"),
  issuedTo: z.string().min(1).max(1024).describe("Holder of the license. At most 1024 characters."),
  issuer: z.string().min(1).max(1024).describe("Issuer of the license. At most 1024 characters."),
};

export const stackFields = {
  ...licenseFields,
  type: z
    .enum(licenseTypes)
    .describe(
      "Type of the license: trial, standard, gold, platinum or enterprise. A basic license is not uploaded; label the cluster instead.",
    ),
  maxNodes: int32()
    .min(1)
    .optional()
    .describe(
      "Number of nodes that the license covers. Required for all types except enterprise, here or in the Secret under the key maxNodes.",
    ),
  maxResourceUnits: int32()
    .min(1)
    .optional()
    .describe("Number of units of 64 GiB memory that the license covers. Only for type enterprise."),
};

/** A license that ends before it begins was mistyped. */
export const dateRules = [
  {
    rule: "self.issueDate <= self.expiryDate",
    message: "must not be before issueDate",
    fieldPath: ".expiryDate",
  },
  {
    rule: "!has(self.startDate) || self.startDate < self.expiryDate",
    message: "must be after startDate",
    fieldPath: ".expiryDate",
  },
] as const;

/** Nodes and units exclude each other, by type. */
export const limitRules = [
  {
    rule: "self.type != 'enterprise' || has(self.maxResourceUnits)",
    message: "a license of type enterprise has maxResourceUnits",
  },
  {
    rule: "self.type != 'enterprise' || !has(self.maxNodes)",
    message: "a license of type enterprise has no maxNodes",
    fieldPath: ".maxNodes",
  },
  {
    rule: "self.type == 'enterprise' || !has(self.maxResourceUnits)",
    message: "only a license of type enterprise has maxResourceUnits",
    fieldPath: ".maxResourceUnits",
  },
] as const;

/** A license of the stack inside an EnterpriseLicense. */
export const nestedLicense = cel(
  z.strictObject({
    ...stackFields,
    signatureRef: signatureRef
      .optional()
      .describe(
        "Secret with the signature of this license. Defaults to the key named like the uid in the Secret of the EnterpriseLicense.",
      ),
  }),
  ...dateRules,
  ...limitRules,
);

/** How a license stands; the moments are RFC 3339. */
export const licenseState = z
  .enum(["Scheduled", "Valid", "ExpiringSoon", "Expired", "Invalid"])
  .describe(
    "State of the license: Scheduled before it starts, then Valid, ExpiringSoon and Expired. Invalid if it cannot be used.",
  );

/** Moments of a license as status shows them. */
export const stateTimes = {
  startTime: timestamp().optional().describe("When the license starts."),
  expiryTime: timestamp().optional().describe("When the license expires."),
  nextTransitionTime: timestamp().optional().describe("When the state next changes only because of time."),
};

/** The columns of both kinds of licenses. */
export const licenseColumns = {
  type: { name: "Type", type: "string", jsonPath: ".spec.type" },
  expires: { name: "Expires", type: "string", jsonPath: ".status.expiryTime" },
  state: { name: "State", type: "string", jsonPath: ".status.state" },
  reason: {
    name: "Reason",
    type: "string",
    jsonPath: '.status.conditions[?(@.type=="Valid")].reason',
    priority: 1,
  },
  uid: { name: "Uid", type: "string", jsonPath: ".spec.uid", priority: 1 },
  age: { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
} as const;
