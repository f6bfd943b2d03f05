/**
 * Does things that cost a process each, many with one process: what is asked for while one runs is done together by the next.
 * A single item never waits.
 *
 * @example
 * const mounts = new Batch(async (targets: readonly string[]) => await mountAll(targets));
 * await mounts.add("/mnt/a");
 */
export class Batch<Item, Result> {
  readonly #perform: (items: readonly Item[]) => Promise<Result>;
  #next: { readonly items: Item[]; readonly result: Promise<Result> } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(perform: (items: readonly Item[]) => Promise<Result>) {
    this.#perform = perform;
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
    this.#next = undefined; // who comes from now on is part of the next run
    return await this.#perform(items);
  }
}
