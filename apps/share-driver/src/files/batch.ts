/**
 * Does things that cost a process each, many with one process: what is requested in one turn of the event loop, and what is requested while
 * a process runs, is done together. A single item waits for no other.
 *
 * @example
 * const mounts = new Batch(async (targets: readonly string[]) => await mountAll(targets), async () => await system.yieldToOthers());
 * await mounts.add("/mnt/a");
 */
export class Batch<Item, Result> {
  readonly #perform: (items: readonly Item[]) => Promise<Result>;
  readonly #nextTurn: () => Promise<void>;
  #next: { readonly items: Item[]; readonly result: Promise<Result> } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** `nextTurn` waits for the next turn of the event loop. */
  constructor(perform: (items: readonly Item[]) => Promise<Result>, nextTurn: () => Promise<void>) {
    this.#perform = perform;
    this.#nextTurn = nextTurn;
  }

  /** The result of the run that the item was part of. */
  async add(item: Item): Promise<Result> {
    const next = this.#next ?? this.#prepare();
    next.items.push(item);
    return await next.result;
  }

  #prepare(): { readonly items: Item[]; readonly result: Promise<Result> } {
    const items: Item[] = [];
    const result = this.#runAfter(this.#last, items);
    this.#last = result;
    this.#next = { items, result };
    return this.#next;
  }

  async #runAfter(before: Promise<unknown>, items: readonly Item[]): Promise<Result> {
    await Promise.allSettled([before]);
    // Fifty pods that start together wait for one response of the API server, and then come here one right after the other.
    await this.#nextTurn();
    this.#next = undefined; // who comes from now on is part of the next run
    return await this.#perform(items);
  }
}
