import type { System } from "../system/system.ts";
import type { Source } from "./source.ts";

/** How to keep a value fresh that is read from somewhere. */
export interface PolledOptions<T> {
  readonly system: System;
  readonly read: () => Promise<T>;
  /** How long a value counts as fresh. */
  readonly maxAgeMs: number;
  readonly isSame: (one: T, other: T) => boolean;
}

/**
 * A value that is read again when somebody asks for it and it is no longer fresh. While a reading fails the last good value
 * stays, because files are seldom replaced in one stroke; only the very first failure throws.
 */
export class PolledSource<T> implements Source<T> {
  readonly #options: PolledOptions<T>;
  #held: { readonly value: T } | undefined;
  #readAtMs = 0;
  #running: Promise<T> | undefined;

  constructor(options: PolledOptions<T>) {
    this.#options = options;
  }

  current(): T | Promise<T> {
    const { system, maxAgeMs } = this.#options;
    if (this.#held === undefined || system.monotonicMs() - this.#readAtMs >= maxAgeMs) return this.refresh();
    return this.#held.value;
  }

  async refresh(): Promise<T> {
    this.#running ??= this.#readAgain();
    return await this.#running;
  }

  async #readAgain(): Promise<T> {
    const { system, read, isSame } = this.#options;
    try {
      const value = await read();
      if (this.#held === undefined || !isSame(this.#held.value, value)) this.#held = { value };
      return this.#held.value;
    } catch (error) {
      if (this.#held === undefined) throw error;
      return this.#held.value;
    } finally {
      this.#readAtMs = system.monotonicMs();
      this.#running = undefined;
    }
  }
}
