import type { ClusterLicense } from "@quartermaster/api/licensing";
import type { EnterpriseLicense } from "@quartermaster/api/licensing";
import { LICENSE_REMAINDER_KEY, OUTER_SIGNATURE_KEY } from "@quartermaster/api/licensing";
import { isJsonObject, type JsonObject } from "@quartermaster/runtime";

import type { StackLicenseSpec } from "./stack-license.ts";

/** The vendor's file that a license came from, or would have come from. `data` is that of its Secret, decoded. */
export function exportLicense(
  { kind, spec }: ExportableLicense,
  data: Readonly<Record<string, string>>,
): JsonObject {
  const remainder = remainderOf(data);
  const list: unknown = remainder["licenses"];
  const license = kind === "EnterpriseLicense" ? enterpriseFields(spec, data) : stackFields(spec, data);
  if (!Array.isArray(list)) return merge(remainder, { license });
  return merge(remainder, { licenses: [license] });
}

/** A license of either kind. */
export type ExportableLicense =
  | { readonly kind: "EnterpriseLicense"; readonly spec: EnterpriseLicense["spec"] }
  | { readonly kind: "ClusterLicense"; readonly spec: ClusterLicense["spec"] };

function enterpriseFields(
  spec: EnterpriseLicense["spec"],
  data: Readonly<Record<string, string>>,
): JsonObject {
  const { maxInstances, maxResourceUnits, signatureRef, clusterLicenses = [] } = spec;
  return {
    ...commonFields(spec),
    type: spec.type,
    ...(maxInstances === undefined ? {} : { max_instances: maxInstances }),
    ...(maxResourceUnits === undefined ? {} : { max_resource_units: maxResourceUnits }),
    ...signatureField(data, signatureRef.key ?? OUTER_SIGNATURE_KEY),
    cluster_licenses: clusterLicenses.map(({ signatureRef: own, ...nested }) => ({
      license: { ...plainStackFields(nested), ...signatureField(data, own?.key ?? nested.uid) },
    })),
  };
}

function stackFields(
  { signatureRef, ...spec }: ClusterLicense["spec"],
  data: Readonly<Record<string, string>>,
): JsonObject {
  return { ...plainStackFields(spec), ...signatureField(data, signatureRef.key ?? spec.uid) };
}

function plainStackFields(spec: StackLicenseSpec): JsonObject {
  const { type, maxNodes, maxResourceUnits } = spec;
  return {
    ...commonFields(spec),
    type,
    ...(maxNodes === undefined ? {} : { max_nodes: maxNodes }),
    ...(maxResourceUnits === undefined ? {} : { max_resource_units: maxResourceUnits }),
  };
}

function commonFields(spec: Omit<StackLicenseSpec, "type">): JsonObject {
  return {
    uid: spec.uid,
    issue_date_in_millis: spec.issueDate,
    ...(spec.startDate === undefined ? {} : { start_date_in_millis: spec.startDate }),
    expiry_date_in_millis: spec.expiryDate,
    issued_to: spec.issuedTo,
    issuer: spec.issuer,
  };
}

function signatureField(data: Readonly<Record<string, string>>, key: string): JsonObject {
  return Object.hasOwn(data, key) ? { signature: data[key] } : {};
}

/** Other content of the file; unreadable content is ignored. */
function remainderOf(data: Readonly<Record<string, string>>): JsonObject {
  try {
    const remainder: unknown = JSON.parse(data[LICENSE_REMAINDER_KEY] ?? "{}");
    return isJsonObject(remainder) ? remainder : {};
  } catch {
    return {};
  }
}

/** Objects are merged field by field, lists item by item; `over` wins and decides how long a list is. */
function merge(under: unknown, over: JsonObject): JsonObject {
  const base = isJsonObject(under) ? under : {};
  const merged = Object.entries(over).map(([key, value]): [string, unknown] => [
    key,
    mergeValue(base[key], value),
  ]);
  return Object.fromEntries([...Object.entries(base), ...merged]);
}

function mergeValue(under: unknown, over: unknown): unknown {
  if (Array.isArray(over)) {
    const base: readonly unknown[] = Array.isArray(under) ? under : [];
    return over.map((item: unknown, at) => mergeValue(base[at], item));
  }
  return isJsonObject(over) ? merge(under, over) : over;
}
