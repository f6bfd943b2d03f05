import { escapePointer, fieldOf, isJsonObject, type JsonObject } from "../object/json-object.ts";
import type { KubeObject } from "../object/kube-object.ts";

/** A set of fields as the API server writes it: nested keys `f:name`, `k:{…}`, `v:…`, `i:0`; an empty object is a field. */
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

/**
 * The paths of an object that the field set does not hold, as JSON pointers, in the object's order.
 *
 * A writer who changes a field takes it away from its owners, and a removed field has no owner. So an object that was applied, and
 * whose every field its manager still owns, is unchanged: no value is compared, and what the server defaults, rounds or adds does
 * not matter.
 */
export function unownedPaths(applied: object, owned: FieldSet): readonly string[] {
  const found: string[] = [];
  for (const [key, value] of Object.entries(applied)) {
    if (notApplied.has(key)) continue;
    if (key === "metadata") walkMetadata(value, owned["f:metadata"] ?? {}, found);
    else walkChild({ key, value, owned, path: "" }, found);
  }
  return found;
}

const notApplied: ReadonlySet<string> = new Set(["apiVersion", "kind", "status"]);
const ownedByNone: ReadonlySet<string> = new Set(["name", "namespace", "generateName", "creationTimestamp"]);

function walkMetadata(metadata: unknown, owned: FieldSet, found: string[]): void {
  if (!isJsonObject(metadata)) return;
  for (const [key, value] of Object.entries(metadata))
    if (!ownedByNone.has(key)) walkChild({ key, value, owned, path: "/metadata" }, found);
}

interface Child {
  readonly key: string;
  readonly value: unknown;
  readonly owned: FieldSet;
  readonly path: string;
}

function walkChild({ key, value, owned, path }: Child, found: string[]): void {
  if (value === null || value === undefined) return;
  const here = `${path}/${escapePointer(key)}`;
  const child = childOf(owned, `f:${key}`);
  if (child === undefined) addCertificates(value, here, found);
  else walk(value, child, here, found);
}

/** An empty map says no more than that it may be there: what others put into it is no drift. */
function addCertificates(value: unknown, path: string, found: string[]): void {
  if (!isJsonObject(value)) found.push(path);
  else
    for (const [key, child] of Object.entries(value))
      addCertificates(child, `${path}/${escapePointer(key)}`, found);
}

// oxlint-disable-next-line max-params -- a recursive walk over every field of every object: an options object each would be garbage
function walk(value: unknown, owned: FieldSet, path: string, found: string[]): void {
  if (isCertificate(owned)) return;
  if (Array.isArray(value)) walkItems(value, owned, path, found);
  else if (isJsonObject(value))
    for (const [key, child] of Object.entries(value)) walkChild({ key, value: child, owned, path }, found);
}

// oxlint-disable-next-line max-params -- as above
function walkItems(items: readonly unknown[], owned: FieldSet, path: string, found: string[]): void {
  for (const [index, item] of items.entries()) {
    const child = itemOf(owned, item, index);
    if (child === undefined) found.push(`${path}/${index}`);
    else walk(item, child, `${path}/${index}`, found);
  }
}

/** The entry of a list's item: by its keys, by its value or by its place. */
function itemOf(owned: FieldSet, item: unknown, index: number): FieldSet | undefined {
  const byPosition = childOf(owned, `i:${index}`) ?? childOf(owned, `v:${JSON.stringify(item)}`);
  if (byPosition !== undefined || !isJsonObject(item)) return byPosition;
  for (const [key, child] of Object.entries(owned))
    if (key.startsWith("k:") && isNamedBy(item, key.slice(2))) return child;
  return undefined;
}

/** A key field that the item omits was defaulted by the server, e.g. a port's protocol. */
function isNamedBy(item: JsonObject, keysText: string): boolean {
  const keys: unknown = JSON.parse(keysText);
  if (!isJsonObject(keys)) return false;
  return Object.entries(keys).every(([name, value]) => !Object.hasOwn(item, name) || item[name] === value);
}

function childOf(owned: FieldSet, key: string): FieldSet | undefined {
  return Object.hasOwn(owned, key) ? owned[key] : undefined;
}

function isCertificate(owned: FieldSet): boolean {
  for (const key in owned) if (key !== ".") return false;
  return true;
}

/** Whether the field set holds a field that the object does not have: it was applied before, and is to go. */
export function ownsMoreThan(owned: FieldSet, applied: unknown): boolean {
  return Object.entries(owned).some(([key, child]) => {
    if (key === ".") return false;
    const value = valueAt(applied, key);
    return value === undefined || ownsMoreThan(child, value);
  });
}

/** The value that an entry of a field set means, within its map or list. */
function valueAt(container: unknown, entry: string): unknown {
  const text = entry.slice(2);
  if (entry.startsWith("f:")) return fieldOf(container, text) ?? undefined;
  if (!Array.isArray(container)) return undefined;
  if (entry.startsWith("k:")) return container.find((item) => isJsonObject(item) && isNamedBy(item, text));
  if (entry.startsWith("v:")) return container.find((item) => JSON.stringify(item) === text);
  return container[Number(text)];
}
