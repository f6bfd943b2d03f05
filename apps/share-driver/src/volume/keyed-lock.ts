/** Runs work one after the other where the key is the same, at the same time where it is not. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` after all that was given before with this key, whether that succeeded or not. */
  async run<T>(key: string, work: () => Promise<T> | T): Promise<T> {
    const before = this.#last.get(key);
    const mine = after(before, work);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}

async function after<T>(before: Promise<unknown> | undefined, work: () => Promise<T> | T): Promise<T> {
  if (before !== undefined) await Promise.allSettled([before]);
  return await work();
}
