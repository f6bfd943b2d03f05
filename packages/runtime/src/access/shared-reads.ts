import type { System } from "../system/system.ts";

/** How values are read and kept. */
export interface SharedReadsOptions<K, V> {
  readonly system: Pick<System, "monotonicMs">;
  /** Reads one value. An error reaches all callers that wait for it, and is not kept. */
  readonly read: (key: K) => Promise<V>;
  /** Identity of a key (default: their JSON, which has no separators that a name could forge). */
  readonly idOf?: (key: K) => string;
  /** How long a value is good for; 0 keeps it only for those who already wait. */
  readonly freshMs: (value: V) => number;
  /** Values kept; the oldest goes first. */
  readonly limit: number;
}

interface Entry<V> {
  readonly value: Promise<V>;
  freshUntilMs: number;
}

/**
 * Values that many request at the same time: read once for all who wait, and kept for a short time. Failures are not kept.
 *
 * @example
 * const keys = new SharedReads({ system, limit: 2_000, read: readKeys, freshMs: () => 30_000 });
 */
export class SharedReads<K extends object, V> {
  readonly #options: SharedReadsOptions<K, V>;
  readonly #entries = new Map<string, Entry<V>>();

  constructor(options: SharedReadsOptions<K, V>) {
    this.#options = options;
  }

  /** The value, and whether it was known. */
  async get(key: K): Promise<{ readonly value: V; readonly isCached: boolean }> {
    const { idOf = JSON.stringify } = this.#options;
    const id = idOf(key);
    const known = this.#entries.get(id);
    if (known !== undefined && known.freshUntilMs > this.#options.system.monotonicMs())
      return { value: await known.value, isCached: true };
    return { value: await this.#read(id, key), isCached: false };
  }

  /** Forgets every value, also those being read. */
  clear(): void {
    this.#entries.clear();
  }

  /** Values kept or being read. */
  get size(): number {
    return this.#entries.size;
  }

  async #read(id: string, key: K): Promise<V> {
    const { system, read, freshMs } = this.#options;
    const entry: Entry<V> = { value: read(key), freshUntilMs: Number.POSITIVE_INFINITY };
    this.#keep(id, entry);
    try {
      const value = await entry.value;
      entry.freshUntilMs = system.monotonicMs() + freshMs(value);
      return value;
    } catch (error) {
      if (this.#entries.get(id) === entry) this.#entries.delete(id);
      throw error;
    }
  }

  /** A map keeps the order of insertion: the first key is the oldest. */
  #keep(id: string, entry: Entry<V>): void {
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#options.limit && oldest !== undefined) this.#entries.delete(oldest);
  }
}
