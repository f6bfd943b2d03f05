import type { ClusterLicense } from "@quartermaster/api/licensing";
import type { EnterpriseLicense } from "@quartermaster/api/licensing";
import {
  LICENSE_REMAINDER_KEY,
  LICENSING_GROUP,
  OUTER_SIGNATURE_KEY,
  SIGNATURE_SECRET_TYPE,
} from "@quartermaster/api/licensing";
import type { JsonObject } from "@quartermaster/runtime";

import type { EnterpriseFileFields, LicenseFile, StackFileFields } from "./license-file.ts";
import type { StackLicenseSpec } from "./stack-license.ts";

/** The objects that a file becomes. The Secret has all signatures; the license has none. */
export interface ImportedLicense {
  readonly license: JsonObject;
  readonly secret: JsonObject;
}

/** Name and namespace of the objects. */
export interface LicenseLocation {
  readonly name: string;
  readonly namespace: string;
  /** The terms of a trial are accepted. */
  readonly isEulaAccepted?: boolean;
}

/** A file that could be read. */
export type ReadableLicenseFile = Exclude<LicenseFile, { readonly kind: "unreadable" }>;

/**
 * A vendor's file as objects of Kubernetes: an enterprise license as EnterpriseLicense, one for a single cluster as ClusterLicense,
 * each with its Secret. `exportLicense` is the way back.
 */
export function importLicense(file: ReadableLicenseFile, location: LicenseLocation): ImportedLicense {
  const secretName = `${location.name}-signatures`;
  const { kind, spec, signatures } =
    file.kind === "enterprise"
      ? enterpriseParts(file.license, secretName, location)
      : stackParts(file.license, secretName);
  const metadata = { name: location.name, namespace: location.namespace };
  return {
    license: { apiVersion: `${LICENSING_GROUP}/v1alpha1`, kind, metadata, spec },
    secret: {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { ...metadata, name: secretName },
      type: SIGNATURE_SECRET_TYPE,
      stringData: {
        ...signatures,
        [LICENSE_REMAINDER_KEY]: JSON.stringify(file.whole, withoutSignatures),
      },
    },
  };
}

function withoutSignatures(key: string, value: unknown): unknown {
  return key === "signature" ? undefined : value;
}

interface Parts {
  readonly kind: string;
  readonly spec: object;
  readonly signatures: Readonly<Record<string, string>>;
}

function enterpriseParts(
  fields: EnterpriseFileFields,
  secretName: string,
  { isEulaAccepted = false }: LicenseLocation,
): Parts {
  const nested = fields.cluster_licenses.map(({ license }) => license);
  const spec: EnterpriseLicense["spec"] = {
    ...commonSpec(fields),
    type: fields.type,
    ...amountField("maxInstances", fields.max_instances),
    ...amountField("maxResourceUnits", fields.max_resource_units),
    signatureRef: { name: secretName, key: OUTER_SIGNATURE_KEY },
    clusterLicenses: nested.map(stackSpec),
    ...(isEulaAccepted ? { eula: { accepted: true } } : {}),
  };
  return {
    kind: "EnterpriseLicense",
    spec,
    signatures: {
      [OUTER_SIGNATURE_KEY]: fields.signature,
      ...Object.fromEntries(nested.map(({ uid, signature }) => [uid, signature])),
    },
  };
}

function stackParts(fields: StackFileFields, secretName: string): Parts {
  const spec: ClusterLicense["spec"] = {
    ...stackSpec(fields),
    signatureRef: { name: secretName, key: fields.uid },
  };
  return { kind: "ClusterLicense", spec, signatures: { [fields.uid]: fields.signature } };
}

type CommonSpec = Omit<StackLicenseSpec, "type" | "maxNodes" | "maxResourceUnits">;

function commonSpec(fields: StackFileFields | EnterpriseFileFields): CommonSpec {
  const { start_date_in_millis: startDate } = fields;
  return {
    uid: fields.uid,
    issueDate: fields.issue_date_in_millis,
    ...(startDate === undefined ? {} : { startDate }),
    expiryDate: fields.expiry_date_in_millis,
    issuedTo: fields.issued_to,
    issuer: fields.issuer,
  };
}

function stackSpec(fields: StackFileFields): StackLicenseSpec {
  return {
    ...commonSpec(fields),
    type: fields.type,
    ...amountField("maxNodes", fields.max_nodes),
    ...amountField("maxResourceUnits", fields.max_resource_units),
  };
}

/** Vendors write null for what does not apply. */
function amountField<K extends string>(
  key: K,
  value: number | null | undefined,
): { readonly [key in K]?: number } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a record of the one key
  return (typeof value === "number" ? { [key]: value } : {}) as { readonly [key in K]?: number };
}
