import {
  escapePointer,
  fieldsAppliedBy,
  type FieldSet,
  type KubeObject,
  pointerKeys,
} from "@quartermaster/runtime";

import type { Member } from "../model/member.ts";
import { fieldManager, type OwnerLabels, ownerLabelsFor } from "./owner-labels.ts";

/** The part of a member that is needed to write it. */
export type Writable = Pick<Member, "identity" | "manifest" | "lifecycle">;

/**
 * The manifest with the plan's owner labels in its top-level metadata. On an object that is there, the paths that the plan leaves
 * to others are included only as long as we are still their owner: omitting a field that we own would remove it.
 */
export function appliedManifest(member: Writable, ownerLabels: OwnerLabels, live?: KubeObject): KubeObject {
  const { labels, annotations } = ownerLabelsFor(ownerLabels, member.identity);
  const { metadata, ...content } = member.manifest;
  const ours: KubeObject = {
    ...content,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, ...annotations },
    },
  };
  if (live === undefined) return ours;
  const owned = fieldsAppliedBy(live, fieldManager) ?? {};
  const surrendered = (member.lifecycle.ignorePaths ?? []).filter((path) => !touches(owned, path));
  return surrendered.reduce(withoutPath, ours);
}

/** The object without the value at a JSON pointer; the object itself where there is none. */
function withoutPath(object: KubeObject, pointer: string): KubeObject {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- apiVersion, kind and metadata.name are refused in ignorePaths' reach below
  return removeAt(object, pointerKeys(pointer)) as KubeObject;
}

function removeAt(value: unknown, [head, ...rest]: readonly string[]): unknown {
  if (head === undefined || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return removeItem(value, head, rest);
  if (!Object.hasOwn(value, head)) return value;
  const { [head]: child, ...others } = { ...value } as { readonly [key: string]: unknown };
  return rest.length === 0 ? others : { ...others, [head]: removeAt(child, rest) };
}

function removeItem(items: readonly unknown[], head: string, rest: readonly string[]): readonly unknown[] {
  const index = Number(head);
  if (!Number.isInteger(index) || index < 0 || index >= items.length) return items;
  if (rest.length === 0) return items.toSpliced(index, 1);
  return items.with(index, removeAt(items[index], rest));
}

/** Whether the set holds a field at, above or below the JSON pointer; list items are matched by place only. */
export function touches(set: FieldSet, pointer: string): boolean {
  let node = set;
  for (const segment of pointerKeys(pointer)) {
    const next = Object.hasOwn(node, `f:${segment}`) ? node[`f:${segment}`] : undefined;
    if (next === undefined) return Object.keys(node).length === 0 && node !== set;
    node = next;
  }
  return true;
}

/** The set without the fields at or below the JSON pointers. */
export function outside(set: FieldSet, pointers: readonly string[]): FieldSet {
  return pointers.reduce<FieldSet>((left, pointer) => dropped(left, pointerKeys(pointer)) ?? {}, set);
}

/** Undefined when nothing is left: an empty set would mean the field above as a whole. */
function dropped(set: FieldSet, [head, ...rest]: readonly string[]): FieldSet | undefined {
  const key = `f:${head ?? ""}`;
  if (head === undefined || !Object.hasOwn(set, key)) return set;
  const { [key]: child = {}, ...others } = set;
  const left = rest.length === 0 ? undefined : dropped(child, rest);
  const kept = left === undefined ? others : { ...others, [key]: left };
  return Object.keys(kept).length === 0 ? undefined : kept;
}

/** The fields of a set that are not in another one which was made from it by `outside`. */
export function beyond(set: FieldSet, part: FieldSet): FieldSet {
  const entries = Object.entries(set).flatMap(([key, child]): readonly [string, FieldSet][] => {
    if (!Object.hasOwn(part, key)) return [[key, child]];
    const inner = beyond(child, part[key] ?? {});
    return Object.keys(inner).length === 0 ? [] : [[key, inner]];
  });
  return Object.fromEntries(entries);
}

/** Fields of a set that are not in another, as pointers to the topmost such fields, at most `limit` of them. */
export function pathsBeyond(set: FieldSet, base: FieldSet, limit = 10): readonly string[] {
  const found: string[] = [];
  collect({ set, base, path: "" }, found, limit);
  return found;
}

function collect(
  { set, base, path }: { readonly set: FieldSet; readonly base: FieldSet; readonly path: string },
  found: string[],
  limit: number,
): void {
  for (const [key, child] of Object.entries(set)) {
    if (found.length >= limit) return;
    if (key === ".") continue;
    const here = `${path}/${segmentOf(key)}`;
    const other = Object.hasOwn(base, key) ? base[key] : undefined;
    if (other === undefined) found.push(here);
    else collect({ set: child, base: other, path: here }, found, limit);
  }
}

/** `f:name` → `name`; an item of a list is shown by its keys or its value. */
function segmentOf(key: string): string {
  return escapePointer(key.slice(2));
}
