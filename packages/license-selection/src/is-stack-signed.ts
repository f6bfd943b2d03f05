import { type KeyObject, verify } from "node:crypto";

import type { EnterpriseLicense } from "@quartermaster/api/licensing";

import type { SignatureRead } from "./read-signature.ts";
import { signedFields, type StackLicense } from "./stack-license.ts";

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

/** Whether the vendor signed a licence of the stack. */
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
