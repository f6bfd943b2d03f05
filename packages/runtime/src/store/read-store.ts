import type { KubeObject, Live, ObjectKey, ObjectRef } from "../object/kube-object.ts";
import type { Index } from "./store-index.ts";

/**
 * Objects of one kind and scope as the watch delivers them, briefly behind the server, our own writes included. Objects are
 * shared: they must never be edited.
 */
export interface ReadStore<O extends KubeObject = KubeObject> {
  readonly size: number;
  get(ref: ObjectRef): Live<O> | undefined;
  getByKey(key: ObjectKey): Live<O> | undefined;
  /** All objects, in no particular order. */
  list(): readonly Live<O>[];
  /** The objects that an index has under a value, in no particular order. */
  listBy(index: Index<O>, value: string): readonly Live<O>[];
  /** Whether the first full picture is there. */
  readonly isSynced: boolean;
  /** Resolves with the first full picture. Rejects when the signal aborts. */
  synced(options: { readonly signal: AbortSignal }): Promise<void>;
  /** Resolves once everything up to the version is in the store. Rejects with a TimeoutError after `timeoutMs`. */
  atLeast(resourceVersion: string, options: { readonly timeoutMs: number }): Promise<void>;
}
