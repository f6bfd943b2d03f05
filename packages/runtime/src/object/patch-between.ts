import { deepEqual } from "./deep-equal.ts";
import { escapePointer, isJsonObject, type JsonObject } from "./json-object.ts";

/** One operation of RFC 6902. */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

/**
 * The operations that turn one JSON value into another, as a mutating webhook returns them: only what differs is named, so that what
 * other webhooks change at the same time survives. Values are compared, never edited.
 *
 * A field that is undefined counts as absent. Items that a list gained or lost in one place become `add` and `remove`; items that differ are patched inside.
 *
 * @example
 * patchBetween({ a: [1, 3] }, { a: [1, 2, 3] }); // [{ op: "add", path: "/a/1", value: 2 }]
 */
export function patchBetween(before: unknown, after: unknown): readonly JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  compare({ before, after, path: "" }, operations);
  return operations;
}

interface Pair {
  readonly before: unknown;
  readonly after: unknown;
  readonly path: string;
}

function compare({ before, after, path }: Pair, operations: JsonPatchOperation[]): void {
  if (deepEqual(before, after)) return;
  if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, { path, operations });
  else if (isJsonObject(before) && isJsonObject(after)) compareMaps(before, after, { path, operations });
  else operations.push({ op: "replace", path, value: after });
}

interface Location {
  readonly path: string;
  readonly operations: JsonPatchOperation[];
}

function compareMaps(before: JsonObject, after: JsonObject, { path, operations }: Location): void {
  for (const key of Object.keys(before))
    if (before[key] !== undefined && !has(after, key))
      operations.push({ op: "remove", path: `${path}/${escapePointer(key)}` });
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined) continue;
    const here = `${path}/${escapePointer(key)}`;
    if (has(before, key)) compare({ before: before[key], after: value, path: here }, operations);
    else operations.push({ op: "add", path: here, value });
  }
}

/** Equal items at both ends stay; between them items are compared by place, and what is too many or too few goes or comes. */
function compareLists(before: readonly unknown[], after: readonly unknown[], location: Location): void {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && deepEqual(before[head], after[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && deepEqual(before.at(-1 - tail), after.at(-1 - tail))) tail += 1;
  const { path, operations } = location;
  const shared = shorter - tail;
  for (let at = head; at < shared; at += 1)
    compare({ before: before[at], after: after[at], path: `${path}/${at}` }, operations);
  // From the end, so that no removal moves what a later one names.
  for (let at = before.length - tail - 1; at >= shared; at -= 1)
    operations.push({ op: "remove", path: `${path}/${at}` });
  for (let at = shared; at < after.length - tail; at += 1)
    operations.push({ op: "add", path: `${path}/${at}`, value: after[at] });
}

function has(map: JsonObject, key: string): boolean {
  return Object.hasOwn(map, key) && map[key] !== undefined;
}
