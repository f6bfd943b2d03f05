import { fieldOf, isJsonObject, type JsonObject, textOf } from "@quartermaster/runtime";

/** Lists within Lists that are followed; `kubectl` writes one level. */
const nestingLimit = 4;

/** Objects that one manifest may hold. */
const itemLimit = 5_000;

/** The objects of a manifest in their order, or why it cannot be taken apart. */
export type Flattened =
  | { readonly kind: "items"; readonly items: readonly unknown[]; readonly isList: boolean }
  | { readonly kind: "refused"; readonly message: string };

/**
 * Takes `List`, `ConfigMapList` and their like apart; anything else is the one item. Items of a typed list need not repeat
 * apiVersion and kind, and must not say another kind. An object that has a name of its own is no list, whatever its kind is
 * called.
 */
export function flattenList(manifest: unknown): Flattened {
  const items: unknown[] = [];
  const message = collect(manifest, items, nestingLimit);
  return message === undefined
    ? { kind: "items", items, isList: itemsOf(manifest) !== undefined }
    : { kind: "refused", message };
}

/** Fills `items`; a message when the manifest breaks a limit. */
function collect(manifest: unknown, items: unknown[], levelsLeft: number): string | undefined {
  const inner = itemsOf(manifest);
  if (inner === undefined) {
    items.push(manifest);
    return items.length > itemLimit ? `a list may have at most ${itemLimit} objects` : undefined;
  }
  if (levelsLeft === 0) return `lists may be nested at most ${nestingLimit} levels deep`;
  for (const [index, item] of inner.entries()) {
    const message =
      mismatch(manifest, item, index) ?? collect(completed(manifest, item), items, levelsLeft - 1);
    if (message !== undefined) return message;
  }
  return undefined;
}

function itemsOf(manifest: unknown): readonly unknown[] | undefined {
  const items = fieldOf(manifest, "items");
  const isList = textOf(manifest, "kind")?.endsWith("List") === true;
  const hasName = fieldOf(fieldOf(manifest, "metadata"), "name") !== undefined;
  return isList && !hasName && Array.isArray(items) ? items : undefined;
}

function mismatch(list: unknown, item: unknown, index: number): string | undefined {
  const expected = itemKind(list);
  const kind = textOf(item, "kind");
  if (expected === "" || kind === undefined || kind === expected) return undefined;
  return `items[${index}] of a ${expected}List has kind ${kind.slice(0, 63)}`;
}

/** `ConfigMap` for `ConfigMapList`, nothing for the plain `List` that holds anything. */
function itemKind(list: unknown): string {
  return textOf(list, "kind")?.slice(0, -"List".length) ?? "";
}

function completed(list: unknown, item: unknown): unknown {
  if (!isJsonObject(item) || itemKind(list) === "") return item;
  const inherited: JsonObject = { apiVersion: textOf(list, "apiVersion"), kind: itemKind(list) };
  return { ...inherited, ...item };
}
