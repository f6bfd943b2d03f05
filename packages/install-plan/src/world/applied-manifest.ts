import { fieldsAppliedBy, type KubeObject, pointerKeys } from "@quartermaster/runtime";

import { touches } from "../fields/set-paths.ts";
import type { Member } from "../member.ts";
import { fieldManager, type OwnerLabels, ownerLabelsFor } from "../owner-labels.ts";

/** What of a member is needed to write it. */
export type Writable = Pick<Member, "identity" | "manifest" | "lifecycle">;

/**
 * The manifest with the plan's owner labels in its top-level metadata. On an object that is there, the paths that the plan leaves
 * to others are given only as long as we are still their owner: leaving out a field that we own would remove it.
 */
export function appliedManifest(member: Writable, ownerLabels: OwnerLabels, live?: KubeObject): KubeObject {
  const { labels, annotations } = ownerLabelsFor(ownerLabels, member.identity);
  const { metadata, ...content } = member.manifest;
  const marked: KubeObject = {
    ...content,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, ...annotations },
    },
  };
  if (live === undefined) return marked;
  const owned = fieldsAppliedBy(live, fieldManager) ?? {};
  const surrendered = (member.lifecycle.ignorePaths ?? []).filter((path) => !touches(owned, path));
  return surrendered.reduce(withoutPath, marked);
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
  if (!Number.isInteger(index) || index >= items.length) return items;
  if (rest.length === 0) return items.toSpliced(index, 1);
  return items.with(index, removeAt(items[index], rest));
}
