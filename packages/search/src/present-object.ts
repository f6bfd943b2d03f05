import type { Kind, Live } from "@quartermaster/runtime";

import type { SearchAction } from "./search-action.ts";

/** An object of ours that is there, whether it is wanted or not. */
export interface PresentObject {
  readonly kind: Kind;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isTerminating: boolean;
}

/** Deletes those that are not being deleted yet; only as long as the cluster's spec is the one that does not declare them. */
export function pruneActions(
  objects: readonly PresentObject[],
  { metadata: { generation = 0 } }: Live,
): readonly SearchAction[] {
  return objects
    .filter(({ isTerminating }) => !isTerminating)
    .map(({ kind, name, uid, resourceVersion }) => ({
      kind: "prune",
      resource: kind,
      name,
      uid,
      resourceVersion,
      generation,
    }));
}

/** The part of an object that is needed to delete it later, and no other in its place. */
export function presentObject(kind: Kind, { metadata }: Live): PresentObject {
  const { name, uid, resourceVersion, deletionTimestamp } = metadata;
  return { kind, name, uid, resourceVersion, isTerminating: deletionTimestamp !== undefined };
}
