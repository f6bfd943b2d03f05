import type { InformerHandle, InformerRequest, System } from "@quartermaster/runtime";

import {
  type KeyFacts,
  keyFactsOf,
  type ObjectIdentity,
  referenceKey,
} from "../injection/injection-facts.ts";
import { type KeyNames, keyNamesOf } from "../references/read-keys.ts";

/** Opens a watch of one object. */
export type WatchKeys = (request: InformerRequest<KeyNames>) => WatchHandle;

export type WatchHandle = Pick<InformerHandle<KeyNames>, "store" | "state" | "silentMs"> & AsyncDisposable;

export interface WatchedKeysOptions {
  readonly watch: WatchKeys;
  readonly system: Pick<System, "monotonicMs">;
  /** Watches at the same time (default: 200): each costs a connection. One that was not used for a minute makes room. */
  readonly limit?: number;
}

export interface WatchedFacts {
  readonly facts: KeyFacts;
  /** False while the watch has been silent for longer than it may be. */
  readonly isCurrent: boolean;
}

interface Watched {
  readonly handle: WatchHandle;
  readonly object: ObjectIdentity;
  usedMs: number;
}

/** An object is watched from its second use within a minute, until ten minutes after its last. */
const [oftenMs, unusedMs] = [60_000, 600_000];

/** A bookmark comes every minute. */
const silentLimitMs = 90_000;

/** First uses that are remembered: those of objects that are used once only are forgotten. */
const firstUseLimit = 2_000;

/**
 * Watches, by name, of the Secrets and ConfigMaps that pods use often: their key names are up to date without a request. Of
 * each object only the names are kept. Objects that are used seldom are not watched.
 */
export class WatchedKeys {
  readonly #options: WatchedKeysOptions;
  /** In the order of their last use. */
  readonly #watched = new Map<string, Watched>();
  readonly #firstUses = new Map<string, number>();

  constructor(options: WatchedKeysOptions) {
    this.#options = options;
  }

  /** Watches in progress. */
  get size(): number {
    return this.#watched.size;
  }

  /** Notes the use of an object; gives what its watch says, or undefined while there is none with a response. */
  use(object: ObjectIdentity): WatchedFacts | undefined {
    const nowMs = this.#options.system.monotonicMs();
    this.#endUnused(nowMs);
    const key = referenceKey(object);
    const known = this.#watched.get(key);
    if (known === undefined) {
      if (this.#isOften(key, nowMs)) this.#open(key, object, nowMs);
      return undefined;
    }
    known.usedMs = nowMs;
    this.#watched.delete(key);
    this.#watched.set(key, known);
    return factsOf(known);
  }

  #isOften(key: string, nowMs: number): boolean {
    const firstMs = this.#firstUses.get(key);
    this.#firstUses.delete(key);
    if (firstMs !== undefined && nowMs - firstMs < oftenMs) return true;
    this.#firstUses.set(key, nowMs);
    const [oldest] = this.#firstUses.keys();
    if (this.#firstUses.size > firstUseLimit && oldest !== undefined) this.#firstUses.delete(oldest);
    return false;
  }

  #open(key: string, object: ObjectIdentity, nowMs: number): void {
    const { watch, limit = 200 } = this.#options;
    const [oldest] = this.#watched;
    if (this.#watched.size >= limit && oldest !== undefined) {
      const [oldestKey, { usedMs }] = oldest;
      // All are in use: to end one for another would open watches without end. The object continues being read.
      if (nowMs - usedMs < oftenMs) return;
      this.#end(oldestKey);
    }
    this.#watched.set(key, { handle: watch(keyNamesOf(object)), object, usedMs: nowMs });
  }

  #endUnused(nowMs: number): void {
    for (const [key, { usedMs }] of this.#watched) {
      if (nowMs - usedMs < unusedMs) return;
      this.#end(key);
    }
  }

  #end(key: string): void {
    const watched = this.#watched.get(key);
    this.#watched.delete(key);
    void watched?.handle[Symbol.asyncDispose]();
  }
}

function factsOf({ handle: { store, state, silentMs }, object }: Watched): WatchedFacts | undefined {
  if (!store.isSynced) return undefined;
  const { namespace, name } = object;
  const found = store.get({ namespace, name });
  return {
    facts: keyFactsOf(found?.keyNames),
    isCurrent: state === "watching" && silentMs < silentLimitMs,
  };
}
