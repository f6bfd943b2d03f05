import * as z from "zod";

import { definedFields } from "../object/defined-fields.ts";

/** A CEL rule of a field or of a whole object; the API server evaluates it, no one else does. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  readonly reason?:
    | "FieldValueInvalid"
    | "FieldValueForbidden"
    | "FieldValueRequired"
    | "FieldValueDuplicate";
  /** The field at fault, relative to where the rule is, e.g. `.metadata.name` (default: where the rule is). */
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** A whole number of 32 bits. */
export function int32(): z.ZodInt32 {
  return z.int32().meta({ format: "int32" });
}

/** A whole number up to 2^53, which JSON carries safely. */
export function int64(): z.ZodInt {
  return z.int().meta({ format: "int64" });
}

/** An amount such as `500m`, `2Gi` or `3`: what Kubernetes' own pattern takes, in a form that cannot backtrack. */
export function quantity(): z.ZodString {
  return z.string().regex(/^[+-]?[0-9.]+([eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)?$/);
}

/** A port by number or by name, a count or a percentage. */
export function intOrString(maxLength?: number): z.ZodUnion<readonly [z.ZodInt, z.ZodString]> {
  const text = maxLength === undefined ? z.string() : z.string().max(maxLength);
  // Declared beside the union too: the cost of a CEL rule follows from it.
  return z.union([z.int(), text]).meta(definedFields({ [INT_OR_STRING]: true, maxLength }));
}

/** A span of time as Go writes it: `300ms`, `1h30m`. */
export function duration(): z.ZodString {
  return z.string().regex(/^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$/);
}

/** A moment in RFC 3339. */
export function timestamp(): z.ZodString {
  return z.string().meta({ format: "date-time" });
}

/** Values by key; at most so many, which the API server checks. */
export function map<V extends z.ZodType>(value: V, maxProperties?: number): z.ZodRecord<z.ZodString, V> {
  const record = z.record(z.string(), value);
  return maxProperties === undefined ? record : record.meta({ maxProperties });
}

/** A list in which each item is known by the values of `keys`; server-side apply merges item by item. */
export function listMap<T extends z.ZodObject>(
  item: T,
  keys: readonly (keyof T["shape"] & string)[],
): z.ZodArray<T> {
  return z.array(item).meta({ [LIST_TYPE]: "map", [LIST_MAP_KEYS]: keys });
}

/** A list of scalars without doubles; server-side apply merges it. */
export function listSet<T extends z.ZodType>(item: T): z.ZodArray<T> {
  return z.array(item).meta({ [LIST_TYPE]: "set" });
}

/** A list that belongs to one manager as a whole. */
export function atomicList<T extends z.ZodType>(item: T): z.ZodArray<T> {
  return z.array(item).meta({ [LIST_TYPE]: "atomic" });
}

/** Any object; the server keeps what it does not know. */
export function raw(): z.ZodRecord<z.ZodString, z.ZodUnknown> {
  return z.record(z.string(), z.unknown()).meta({ [PRESERVE]: true });
}

/** A whole Kubernetes object inside ours: apiVersion, kind and metadata are checked, the rest is kept as it is. */
export function embedded(): z.ZodRecord<z.ZodString, z.ZodUnknown> {
  return z.record(z.string(), z.unknown()).meta({ [PRESERVE]: true, [EMBEDDED]: true });
}

/** The same schema with CEL rules added to those it has. */
export function cel<T extends z.ZodType>(schema: T, ...rules: readonly CelRule[]): T {
  const known: unknown = schema.meta()?.[VALIDATIONS];
  const earlier: readonly unknown[] = Array.isArray(known) ? known : [];
  return schema.meta({ ...schema.meta(), [VALIDATIONS]: [...earlier, ...rules] });
}

/**
 * The same schema, not to be changed once it is set. A field that is set or unset later needs a rule on its parent. The message
 * says what to do instead.
 */
export function immutable<T extends z.ZodType>(schema: T, message = "is immutable"): T {
  return cel(schema, { rule: "self == oldSelf", message });
}

/** Extension: a whole number or a string. */
export const INT_OR_STRING = "x-kubernetes-int-or-string";
/** Extension: how server-side apply merges a list. */
const LIST_TYPE = "x-kubernetes-list-type";
/** Extension: the fields that tell the items of a list apart. */
const LIST_MAP_KEYS = "x-kubernetes-list-map-keys";
/** Extension: unknown fields are kept. */
export const PRESERVE = "x-kubernetes-preserve-unknown-fields";
/** Extension: a whole Kubernetes object. */
export const EMBEDDED = "x-kubernetes-embedded-resource";
/** Extension: CEL rules. */
export const VALIDATIONS = "x-kubernetes-validations";
