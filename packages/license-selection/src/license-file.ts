import { licenseUid } from "@quartermaster/api/licensing";
import { licenseTypes } from "@quartermaster/api/licensing";
import { isJsonObject, isTextDeeperThan, type JsonObject } from "@quartermaster/runtime";
import { z } from "zod";

import { longestSignature } from "./read-signature.ts";

const momentMs = z.int().min(0);
const amount = z.int32().min(1);
const signature = z.string().min(1).max(longestSignature);

const common = {
  uid: licenseUid,
  issue_date_in_millis: momentMs,
  start_date_in_millis: momentMs.optional(),
  expiry_date_in_millis: momentMs,
  issued_to: z.string().min(1).max(1024),
  issuer: z.string().min(1).max(1024),
  signature,
};

const stackFields = z.looseObject({
  ...common,
  type: z.enum(licenseTypes),
  max_nodes: amount.nullish(),
  max_resource_units: amount.nullish(),
});

const enterpriseFields = z.looseObject({
  ...common,
  type: z.enum(["enterprise", "enterprise_trial", "enterprise-trial"]),
  max_instances: amount.nullish(),
  max_resource_units: amount.nullish(),
  cluster_licenses: z.array(z.looseObject({ license: stackFields })).max(200),
});

/** The fields of a license of the stack in a vendor's file. */
export type StackFileFields = z.output<typeof stackFields>;

/** The fields of an enterprise license in a vendor's file. */
export type EnterpriseFileFields = z.output<typeof enterpriseFields>;

/** Content of a vendor's file, or why it cannot be used. `whole` is the file as it is. */
export type LicenseFile =
  | { readonly kind: "enterprise"; readonly license: EnterpriseFileFields; readonly whole: JsonObject }
  | { readonly kind: "stack"; readonly license: StackFileFields; readonly whole: JsonObject }
  | { readonly kind: "unreadable"; readonly message: string };

/** Characters of the largest file that is read: a Secret has to hold it. */
const largestFile = 512 * 1024;

/** Levels of the deepest file that is read. */
const deepestFile = 16;

/** Reads the text of a vendor's file. Never throws and never shows a signature, whatever the text is. */
export function readLicenseFile(text: string): LicenseFile {
  if (text.length > largestFile) return unreadable(`it has more than ${String(largestFile)} characters`);
  if (isTextDeeperThan(Buffer.from(text), deepestFile)) return unreadable("it is nested too deeply");
  const whole = jsonOf(text);
  if (!isJsonObject(whole)) return unreadable("it is not a JSON object");
  const license = licenseIn(whole);
  if (license === undefined) return unreadable("it does not hold exactly one license");
  return "cluster_licenses" in license
    ? fileOf("enterprise", enterpriseFields.safeParse(license), whole)
    : fileOf("stack", stackFields.safeParse(license), whole);
}

function fileOf<K extends string, F>(
  kind: K,
  parsed: z.ZodSafeParseResult<F>,
  whole: JsonObject,
):
  | { readonly kind: K; readonly license: F; readonly whole: JsonObject }
  | (LicenseFile & { kind: "unreadable" }) {
  if (parsed.success) return { kind, license: parsed.data, whole };
  const problems = parsed.error.issues.slice(0, 20);
  return unreadable(
    problems.map(({ path, message }) => `license.${path.map(String).join(".")}: ${message}`).join("; "),
  );
}

/** Files hold one license, or a list of one. */
function licenseIn(whole: JsonObject): JsonObject | undefined {
  const list: unknown = whole["licenses"];
  const only: unknown = Array.isArray(list) && list.length === 1 ? list[0] : whole["license"];
  return isJsonObject(only) ? only : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What JSON.parse says quotes the text, which may be a signature.
    return undefined;
  }
}

function unreadable(message: string): LicenseFile & { kind: "unreadable" } {
  return { kind: "unreadable", message: `not a license file: ${message}` };
}
