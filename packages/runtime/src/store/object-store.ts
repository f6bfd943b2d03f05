import { deepFreeze } from "../object/deep-equal.ts";
import {
  asLive,
  compareVersions,
  keyOf,
  type KubeObject,
  type Live,
  newerVersion,
  type ObjectKey,
  type ObjectRef,
} from "../object/kube-object.ts";
import type { System } from "../system/system.ts";
import { type Index, IndexSet } from "./index-set.ts";
import { Tombstones } from "./tombstones.ts";
import { VersionWaits } from "./version-waits.ts";

export type Change<O extends KubeObject> =
  | { readonly type: "added"; readonly new: Live<O> }
  | { readonly type: "updated"; readonly old: Live<O>; readonly new: Live<O> }
  | { readonly type: "deleted"; readonly old: Live<O> };

/** How a store keeps objects. */
export interface StoreOptions {
  readonly system: System;
  /** Freezes each object with all it holds; dear, for tests. */
  readonly freeze?: boolean;
}

/**
 * Objects by key with their indexes. An object never goes back to an older version, whatever is replayed or reordered.
 * Our own writes lie over what the watch delivered until the watch has caught up with them.
 */
export class ObjectStore<O extends KubeObject> implements ReadStore<O> {
  readonly #objects = new Map<ObjectKey, Live<O>>();
  readonly #indexes = new IndexSet<O>();
  /** Objects of the watch below our newer writes. */
  readonly #beneath = new Map<ObjectKey, Live<O> | undefined>();
  readonly #tombstones = new Tombstones();
  readonly #waits: VersionWaits;
  readonly #freeze: boolean;
  readonly #firstSync = Promise.withResolvers<undefined>();
  #unseen: Set<ObjectKey> | undefined;
  #acceptsOlder = false;
  #version = "0";
  #isSynced = false;

  constructor({ system, freeze = false }: StoreOptions) {
    this.#waits = new VersionWaits(system);
    this.#freeze = freeze;
  }

  get size(): number {
    return this.#objects.size;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Everything up to this version is in the store. */
  get version(): string {
    return this.#version;
  }

  get(ref: ObjectRef): Live<O> | undefined {
    return this.#objects.get(keyOf(ref));
  }

  getByKey(key: ObjectKey): Live<O> | undefined {
    return this.#objects.get(key);
  }

  list(): readonly Live<O>[] {
    return [...this.#objects.values()];
  }

  listBy(index: Index<O>, value: string): readonly Live<O>[] {
    const found: Live<O>[] = [];
    for (const key of this.#indexes.keys(index, value, this.#objects)) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  async synced({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (this.#isSynced) return;
    signal.throwIfAborted();
    const { promise, reject } = Promise.withResolvers<undefined>();
    const giveUp = (): void => {
      reject(signal.reason);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      await Promise.race([this.#firstSync.promise, promise]);
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  async atLeast(resourceVersion: string, { timeoutMs }: { readonly timeoutMs: number }): Promise<void> {
    if (this.#isSynced && compareVersions(this.#version, resourceVersion) >= 0) return;
    await this.#waits.until(resourceVersion, timeoutMs);
  }

  /** A new full picture begins; see WatchSink. */
  beginReplace(acceptsOlder: boolean): void {
    this.#unseen = new Set(this.#objects.keys());
    this.#acceptsOlder = acceptsOlder;
  }

  /** Takes an object of the watch in; undefined when that is nothing new. */
  upsert(delivered: O): Change<O> | undefined {
    const object = asLive(delivered);
    const key = keyOf(object.metadata);
    this.#unseen?.delete(key);
    const old = this.#delivered(key);
    if (!this.#isNews(key, old, versionOf(object))) return undefined;
    const kept = this.#freeze ? deepFreeze(object) : object;
    // Most objects have no write of ours above them: then `old` is what is replaced, and nothing has to be looked up again.
    if (this.#beneath.size === 0) this.#replace(key, old, kept);
    else this.#deliver(key, kept);
    return old === undefined ? { type: "added", new: object } : { type: "updated", old, new: object };
  }

  /** Takes an object out; undefined when it is not there, or there again. The change holds its last state. */
  remove(delivered: O): Change<O> | undefined {
    const object = asLive(delivered);
    const key = keyOf(object.metadata);
    const old = this.#delivered(key);
    const version = versionOf(object);
    if (old !== undefined && compareVersions(version, versionOf(old)) < 0) return undefined;
    this.#unseen?.delete(key);
    this.#tombstones.add(key, version);
    if (old === undefined) return undefined;
    this.#deliver(key, undefined, version);
    return { type: "deleted", old: this.#freeze ? deepFreeze(object) : object };
  }

  /** The picture is complete: what was not in it no longer exists. */
  endReplace(resourceVersion: string): readonly Change<O>[] {
    const gone = [...(this.#unseen ?? [])].flatMap((key) => this.#bury(key, resourceVersion));
    this.#unseen = undefined;
    if (this.#acceptsOlder) this.#version = resourceVersion;
    this.#acceptsOlder = false;
    this.#tombstones.reset(resourceVersion);
    this.#isSynced = true;
    this.#firstSync.resolve(undefined);
    this.advance(resourceVersion);
    return gone;
  }

  /** There are no objects of the kind any more, and no picture of it either. */
  clear(): readonly Change<O>[] {
    this.#unseen = undefined;
    this.#tombstones.reset("0");
    return [...this.#objects.keys()].flatMap((key) => this.#bury(key, this.#version));
  }

  /** The watch has delivered everything up to this version: writes of ours that are older have been delivered or are out of scope. */
  advance(resourceVersion: string): void {
    this.#version = newerVersion(this.#version, resourceVersion);
    for (const [key, beneath] of this.#beneath) {
      const written = this.#objects.get(key);
      if (written !== undefined && compareVersions(versionOf(written), this.#version) > 0) continue;
      this.#beneath.delete(key);
      this.#put(key, beneath);
    }
    this.#waits.reach(this.#version);
  }

  /** Returns our own write until the watch delivers it. */
  noteWrite(written: O): void {
    const object = asLive(written);
    const key = keyOf(object.metadata);
    const version = versionOf(object);
    const current = this.#objects.get(key);
    if (compareVersions(version, this.#version) <= 0) return;
    if (current !== undefined && compareVersions(version, versionOf(current)) <= 0) return;
    if (current === undefined && this.#tombstones.isBuried(key, version)) return;
    if (!this.#beneath.has(key)) this.#beneath.set(key, current);
    this.#put(key, this.#freeze ? deepFreeze(object) : object);
  }

  #isNews(key: ObjectKey, old: Live<O> | undefined, version: string): boolean {
    if (old !== undefined) {
      const order = compareVersions(version, versionOf(old));
      return order > 0 || (order < 0 && this.#acceptsOlder);
    }
    if (this.#unseen === undefined) return !this.#tombstones.isBuried(key, version);
    return this.#acceptsOlder || !this.#tombstones.hasOwnerLabels(key, version);
  }

  /** The last that the watch delivered, without our own writes. */
  #delivered(key: ObjectKey): Live<O> | undefined {
    const isBeneath = this.#beneath.size > 0 && this.#beneath.has(key);
    return isBeneath ? this.#beneath.get(key) : this.#objects.get(key);
  }

  #deliver(
    key: ObjectKey,
    object: Live<O> | undefined,
    version = object === undefined ? "" : versionOf(object),
  ): void {
    const written = this.#beneath.has(key) ? this.#objects.get(key) : undefined;
    if (written !== undefined && compareVersions(versionOf(written), version) > 0) {
      this.#beneath.set(key, object);
      return;
    }
    this.#beneath.delete(key);
    this.#put(key, object);
  }

  #bury(key: ObjectKey, version: string): readonly Change<O>[] {
    const old = this.#delivered(key);
    this.#deliver(key, undefined, version);
    return old === undefined ? [] : [{ type: "deleted", old }];
  }

  #put(key: ObjectKey, object: Live<O> | undefined): void {
    this.#replace(key, this.#objects.get(key), object);
  }

  #replace(key: ObjectKey, old: Live<O> | undefined, object: Live<O> | undefined): void {
    if (object === undefined) this.#objects.delete(key);
    else this.#objects.set(key, object);
    this.#indexes.move(key, old, object);
  }
}

function versionOf({ metadata: { resourceVersion = "0" } }: KubeObject): string {
  return resourceVersion;
}

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
