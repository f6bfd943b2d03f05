import type { System } from "@quartermaster/runtime";

/** How values are read and kept. */
export interface SharedReadsOptions<K, V> {
  readonly system: Pick<System, "monotonicMs">;
  /** Reads one value. What it throws reaches everybody who waits for it, and is not kept. */
  readonly read: (key: K) => Promise<V>;
  /** How long a value is good for; 0 keeps it only for those who already wait. */
  readonly freshMs: (value: V) => number;
  /** Values kept; the oldest goes first. */
  readonly limit: number;
}

interface Entry<V> {
  readonly value: Promise<V>;
  freshUntilMs: number;
}

/** Values that many ask for at the same time: read once for all who wait, and kept for a short time. */
export class SharedReads<K extends object, V> {
  readonly #options: SharedReadsOptions<K, V>;
  readonly #entries = new Map<string, Entry<V>>();

  constructor(options: SharedReadsOptions<K, V>) {
    this.#options = options;
  }

  /** The value, and whether it was known. The key must say the same in the same order of fields. */
  async get(key: K): Promise<{ readonly value: V; readonly isCached: boolean }> {
    const id = JSON.stringify(key);
    const known = this.#entries.get(id);
    if (known !== undefined && known.freshUntilMs > this.#options.system.monotonicMs())
      return { value: await known.value, isCached: true };
    return { value: await this.#read(id, key), isCached: false };
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
