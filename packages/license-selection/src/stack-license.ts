import { type KeyObject, verify } from "node:crypto";

import type { ClusterLicense, EnterpriseLicense } from "@quartermaster/api/licensing";

import type { LicenseCandidate } from "./license-candidate.ts";
import type { SignatureRead } from "./read-signature.ts";

/** A license of the stack as either kind holds it. */
export type StackLicenseSpec = Omit<ClusterLicense["spec"], "signatureRef">;

/** A license of the stack inside an EnterpriseLicense. */
export type NestedLicenseSpec = NonNullable<EnterpriseLicense["spec"]["clusterLicenses"]>[number];

/** A license with its signature as far as it could be read. */
export interface StackLicense {
  readonly spec: StackLicenseSpec;
  /** Kind, namespace and name of the object. */
  readonly source: string;
  readonly signature: SignatureRead;
}

/** The license as a candidate; whatever is wrong with it is its own fault alone. */
export function stackCandidate({ spec, source, signature }: StackLicense): LicenseCandidate {
  const { uid, type, issueDate, startDate = issueDate, expiryDate } = spec;
  const problem = isMalformed(spec, signature) ? "Malformed" : signatureProblem(signature);
  return {
    uid,
    source,
    type,
    startMs: startDate,
    expiryMs: expiryDate,
    problem,
    formatVersion: signature.kind === "found" ? signature.envelope.version : undefined,
  };
}

function signatureProblem(signature: SignatureRead): LicenseCandidate["problem"] {
  return signature.kind === "fault" ? signature.problem : undefined;
}

/** Values that the schema accepts and no server does. */
function isMalformed(spec: StackLicenseSpec, signature: SignatureRead): boolean {
  const { type, issueDate, startDate = issueDate, expiryDate, maxResourceUnits } = spec;
  if (startDate >= expiryDate || issueDate > expiryDate) return true;
  if (type === "enterprise") return maxResourceUnits === undefined;
  return signature.kind === "found" && maxNodesOf(spec, signature) === undefined;
}

/** How many nodes a license covers: the spec says it, or else the Secret. */
export function maxNodesOf({ maxNodes }: StackLicenseSpec, signature: SignatureRead): number | undefined {
  return maxNodes ?? (signature.kind === "found" ? signature.maxNodes : undefined);
}

/**
 * The body of `PUT _license`, exactly as signed. Undefined if the license has no readable signature: nothing else is ever sent to a
 * server.
 */
export function licenseUpload({
  spec,
  signature,
}: StackLicense): { readonly licenses: readonly object[] } | undefined {
  if (signature.kind !== "found") return undefined;
  return { licenses: [{ ...signedFields(spec, signature), signature: signature.text }] };
}

/** The fields of a license of the stack in the order in which they are signed. */
function signedFields(spec: StackLicenseSpec, signature: SignatureRead): Readonly<Record<string, unknown>> {
  const version = signature.kind === "found" ? signature.envelope.version : 5;
  const {
    uid,
    type,
    issueDate,
    startDate = issueDate,
    expiryDate,
    maxResourceUnits,
    issuedTo,
    issuer,
  } = spec;
  const units = maxResourceUnits ?? null;
  return {
    uid,
    type,
    issue_date_in_millis: issueDate,
    expiry_date_in_millis: expiryDate,
    max_nodes: maxNodesOf(spec, signature) ?? null,
    ...(version >= 5 ? { max_resource_units: units } : {}),
    issued_to: issuedTo,
    issuer,
    ...(version >= 3 ? { start_date_in_millis: startDate } : {}),
  };
}

/** Whether the vendor signed the outer fields of an EnterpriseLicense. What is nested in it is not covered. */
export function isEnterpriseSigned(
  spec: EnterpriseLicense["spec"],
  signature: SignatureRead,
  key: KeyObject,
): boolean {
  const { uid, type, issueDate, startDate = issueDate, expiryDate, issuedTo, issuer } = spec;
  const { maxInstances, maxResourceUnits } = spec;
  return isSigned(
    {
      uid,
      type,
      issue_date_in_millis: issueDate,
      start_date_in_millis: startDate,
      expiry_date_in_millis: expiryDate,
      ...(maxInstances === undefined ? {} : { max_instances: maxInstances }),
      ...(maxResourceUnits === undefined ? {} : { max_resource_units: maxResourceUnits }),
      issued_to: issuedTo,
      issuer,
    },
    signature,
    key,
  );
}

/** Whether the vendor signed a license of the stack. */
export function isStackSigned({ spec, signature }: StackLicense, key: KeyObject): boolean {
  return isSigned(signedFields(spec, signature), signature, key);
}

/** Whether fields in this order are what was signed. The signer may have escaped U+2028 and U+2029, as Go does; it never escapes `& < >`. */
function isSigned(fields: object, signature: SignatureRead, key: KeyObject): boolean {
  if (signature.kind !== "found") return false;
  const plain = JSON.stringify(fields);
  const escaped = plain.replaceAll("\u2028", String.raw`\u2028`).replaceAll("\u2029", String.raw`\u2029`);
  return [...new Set([plain, escaped])].some((text) =>
    verify("RSA-SHA512", Buffer.from(text), key, signature.envelope.signature),
  );
}
