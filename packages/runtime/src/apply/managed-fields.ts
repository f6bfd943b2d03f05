import { isJsonObject } from "../object/json-object.ts";
import type { KubeObject } from "../object/kube-object.ts";

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

/** Who owns which fields of an object, as the server records it. Empty where the watch does not keep `managedFields`. */
export function managersOf({ metadata }: KubeObject): readonly ManagerEntry[] {
  const entries: unknown = metadata.managedFields;
  return Array.isArray(entries) ? entries.flatMap((entry: unknown) => readManagerEntry(entry)) : [];
}

/** The fields that the applies of a manager own; undefined when it has applied nothing. */
export function fieldsAppliedBy(object: KubeObject, fieldManager: string): FieldSet | undefined {
  return managersOf(object).find((entry) => isApplyOf(entry, fieldManager))?.fields;
}

/** Whether an entry is that of a manager's applies to the object itself, not to a subresource. */
export function isApplyOf({ manager, operation, subresource }: ManagerEntry, fieldManager: string): boolean {
  return manager === fieldManager && operation === "Apply" && subresource === undefined;
}

/** One entry of `managedFields`; nothing where it is malformed. */
export function readManagerEntry(entry: unknown): readonly ManagerEntry[] {
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
