import type { KubeObject } from "@quartermaster/runtime";

import { isJsonObject } from "../manifest/json-object.ts";
import { fieldManager } from "../owner-labels.ts";

/** A set of fields as the API server writes it: nested keys `f:name`, `k:{…}`, `v:…`, `i:0`; an empty object is a leaf. */
export interface FieldSet {
  readonly [key: string]: FieldSet;
}

/** One manager's share in an object. */
export interface ManagerEntry {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fields: FieldSet;
}

/** Who owns what of an object, as far as the server reports it. */
export function managersOf({ metadata }: KubeObject): readonly ManagerEntry[] {
  const entries: unknown = metadata.managedFields;
  return Array.isArray(entries) ? entries.flatMap((entry: unknown) => readEntry(entry)) : [];
}

/** The fields that our applies own. */
export function ourFields(object: KubeObject): FieldSet | undefined {
  return managersOf(object).find(isOurs)?.fields;
}

/** Whether an entry is that of our applies. */
export function isOurs({ manager, operation, subresource }: ManagerEntry): boolean {
  return manager === fieldManager && operation === "Apply" && subresource === undefined;
}

/** One entry as written in an object; nothing where it is not one. */
export function readEntry(entry: unknown): readonly ManagerEntry[] {
  if (!isJsonObject(entry)) return [];
  const { manager, operation, subresource, time, fieldsV1 } = entry;
  if (typeof manager !== "string" || typeof operation !== "string" || !isJsonObject(fieldsV1)) return [];
  return [
    {
      manager,
      operation,
      ...(typeof subresource === "string" && subresource !== "" ? { subresource } : {}),
      ...(typeof time === "string" ? { time } : {}),
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing but nested objects is in fieldsV1; readers ask for each key
      fields: fieldsV1 as unknown as FieldSet,
    },
  ];
}
