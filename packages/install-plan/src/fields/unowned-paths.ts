import { escapePointer } from "../json-pointer.ts";
import { isJsonObject, type JsonObject } from "../manifest/json-object.ts";
import type { FieldSet } from "./managed-fields.ts";

/**
 * The paths of a manifest that the field set does not hold, as JSON pointers, in the manifest's order.
 *
 * A writer that changes a field takes it away from its owners, and a field that is removed is nobody's. So a manifest that was
 * applied, and whose every field we still own, is unchanged; no value need be compared, and what the server defaulted,
 * rounded or added is no concern of ours.
 */
export function unownedPaths(manifest: object, owned: FieldSet): readonly string[] {
  const found: string[] = [];
  for (const [key, value] of Object.entries(manifest)) {
    if (notApplied.has(key)) continue;
    if (key === "metadata") walkMetadata(value, owned["f:metadata"] ?? {}, found);
    else walkChild({ key, value, owned, path: "" }, found);
  }
  return found;
}

const notApplied: ReadonlySet<string> = new Set(["apiVersion", "kind", "status"]);
const ownedByNobody: ReadonlySet<string> = new Set([
  "name",
  "namespace",
  "generateName",
  "creationTimestamp",
]);

function walkMetadata(metadata: unknown, owned: FieldSet, found: string[]): void {
  if (!isJsonObject(metadata)) return;
  for (const [key, value] of Object.entries(metadata))
    if (!ownedByNobody.has(key)) walkChild({ key, value, owned, path: "/metadata" }, found);
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
  if (child === undefined) addLeaves(value, here, found);
  else walk(value, child, here, found);
}

/** An empty map says no more than that it may be there: what others put into it is no drift. */
function addLeaves(value: unknown, path: string, found: string[]): void {
  if (!isJsonObject(value)) found.push(path);
  else
    for (const [key, child] of Object.entries(value))
      addLeaves(child, `${path}/${escapePointer(key)}`, found);
}

// oxlint-disable-next-line max-params -- a recursive walk over every field of every object: an options object each would be garbage
function walk(value: unknown, owned: FieldSet, path: string, found: string[]): void {
  if (isLeaf(owned)) return;
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
  const byPlace = childOf(owned, `i:${index}`) ?? childOf(owned, `v:${JSON.stringify(item)}`);
  if (byPlace !== undefined || !isJsonObject(item)) return byPlace;
  for (const [key, child] of Object.entries(owned))
    if (key.startsWith("k:") && isNamedBy(item, key.slice(2))) return child;
  return undefined;
}

/** A key field that the item leaves out was defaulted by the server, e.g. a port's protocol. */
function isNamedBy(item: JsonObject, keysText: string): boolean {
  const keys: unknown = JSON.parse(keysText);
  if (!isJsonObject(keys)) return false;
  return Object.entries(keys).every(([name, value]) => !Object.hasOwn(item, name) || item[name] === value);
}

function childOf(owned: FieldSet, key: string): FieldSet | undefined {
  return Object.hasOwn(owned, key) ? owned[key] : undefined;
}

function isLeaf(owned: FieldSet): boolean {
  for (const key in owned) if (key !== ".") return false;
  return true;
}
