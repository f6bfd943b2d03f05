import type { KubeObject } from "@quartermaster/runtime";

import { type BackingRef, kindOf } from "../payload.ts";
import { Refusal } from "../refusal.ts";
import { watchObject, type WatchEnvironment } from "./object-watch.ts";

export interface BackingWatchesOptions extends WatchEnvironment {
  /** An object that this volume follows has changed. */
  readonly onChange: (volumeId: string) => void;
  /** Objects that are followed at the same time: each costs a connection (default: 500). */
  readonly limit?: number;
}

/** A followed object: who follows it, and the newest state that was seen. */
class Watched {
  readonly stop = new AbortController();
  readonly volumes = new Set<string>();
  #newest: KubeObject | undefined;

  /** Kept when the object is deleted: running pods keep its content. */
  get newest(): KubeObject | undefined {
    return this.#newest;
  }

  /** False for what is not newer: a read and a watch may arrive in any order, and content never goes back. */
  take(object: KubeObject): boolean {
    if (this.#newest !== undefined && versionOf(object) <= versionOf(this.#newest)) return false;
    this.#newest = object;
    return true;
  }
}

/** One watch per object behind the volumes of this node, shared by all volumes that need it, ended with the last of them. */
export class BackingWatches {
  readonly #options: BackingWatchesOptions;
  readonly #watched = new Map<string, Watched>();

  constructor(options: BackingWatchesOptions) {
    this.#options = options;
  }

  /** How many objects are followed. */
  get size(): number {
    return this.#watched.size;
  }

  /** Throws a Refusal when these objects would be too many together with those that are followed. */
  assertRoomFor(refs: readonly BackingRef[]): void {
    const { limit = 500 } = this.#options;
    const added = new Set(refs.map(idOf).filter((id) => !this.#watched.has(id)));
    if (this.#watched.size + added.size > limit)
      throw new Refusal(
        "TooManyObjects",
        `the volumes of this node follow ${limit} objects already, which is the limit`,
      );
  }

  /** Follows the object for the volume. `object` is what the caller has just read of it. */
  follow(volumeId: string, ref: BackingRef, object?: KubeObject): void {
    const id = idOf(ref);
    const watched = this.#watched.get(id) ?? this.#start(id, ref);
    watched.volumes.add(volumeId);
    if (object !== undefined) watched.take(object);
  }

  /** The volume no longer exists. */
  unfollow(volumeId: string): void {
    for (const [id, { volumes, stop }] of this.#watched) {
      if (!volumes.delete(volumeId) || volumes.size > 0) continue;
      this.#watched.delete(id);
      stop.abort();
    }
  }

  /** The newest state of a followed object; undefined while nothing was seen of it. */
  newest(ref: BackingRef): KubeObject | undefined {
    return this.#watched.get(idOf(ref))?.newest;
  }

  /** Ends all watches. */
  stop(): void {
    for (const { stop } of this.#watched.values()) stop.abort();
    this.#watched.clear();
  }

  #start(id: string, ref: BackingRef): Watched {
    const watched = new Watched();
    this.#watched.set(id, watched);
    const { namespace, name } = ref;
    const onObject = (object: KubeObject): void => {
      if (watched.take(object)) for (const volumeId of watched.volumes) this.#options.onChange(volumeId);
    };
    void watchObject({ kind: kindOf(ref), namespace, name, onObject }, this.#options, watched.stop.signal);
    return watched;
  }
}

function idOf({ kind, namespace, name }: BackingRef): string {
  return `${kind} ${namespace}/${name}`;
}

function versionOf({ metadata }: KubeObject): bigint {
  const version = metadata.resourceVersion ?? "";
  return /^\d+$/.test(version) ? BigInt(version) : 0n;
}
