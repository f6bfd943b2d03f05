/**
 * Shares questions under way: who asks the same while the answer is on its way gets that answer. Nothing is remembered afterwards.
 * Fifty pods that start at once ask the API server three questions, not a hundred and fifty.
 */
export class SingleFlight {
  readonly #underWay = new Map<string, Promise<unknown>>();

  /** The answer to `ask`, or that of the same key under way. The key says everything that the answer depends on, its type too. */
  async run<T>(key: readonly string[], request: () => Promise<T>): Promise<T> {
    const id = JSON.stringify(key); // has no separators that a name could forge
    const underWay = this.#underWay.get(id);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the key stands for the type
    if (underWay !== undefined) return (await underWay) as T;
    const mine = request();
    this.#underWay.set(id, mine);
    try {
      return await mine;
    } finally {
      this.#underWay.delete(id);
    }
  }
}
