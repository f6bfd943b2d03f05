import type { Kind, Live } from "@quartermaster/runtime";

/** An object of ours that is there, whether it is wanted or not. */
export interface PresentObject {
  readonly kind: Kind;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isTerminating: boolean;
}

/** What is needed of an object to delete it later, and no other in its place. */
export function presentObject(kind: Kind, { metadata }: Live): PresentObject {
  const { name, uid, resourceVersion, deletionTimestamp } = metadata;
  return { kind, name, uid, resourceVersion, isTerminating: deletionTimestamp !== undefined };
}
