import { escapePointer, pointerKeys } from "../json-pointer.ts";
import type { FieldSet } from "./managed-fields.ts";

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

/** What of a set is not in another, as pointers to the topmost such fields, at most `limit` of them. */
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
