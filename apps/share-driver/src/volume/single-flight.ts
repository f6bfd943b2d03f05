/**
 * Shares questions in progress: who asks the same while the response is on its way gets that answer. Nothing is remembered afterwards.
 * Fifty pods that start together cause three requests to the API server, not a hundred and fifty.
 */
export class SingleFlight {
  readonly #underWay = new Map<string, Promise<unknown>>();

  /** The response to `ask`, or that of the same key in progress. The key says everything that the response depends on, its type too. */
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
