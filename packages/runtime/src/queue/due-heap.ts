/** Something that falls due at a time. */
export interface Due {
  readonly dueMs: number;
}

/** A binary heap: whatever falls due first is on top. */
export class DueHeap<T extends Due> {
  readonly #items: T[] = [];

  get top(): T | undefined {
    return this.#items[0];
  }

  get size(): number {
    return this.#items.length;
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = items[parentAt];
      if (parent === undefined || parent.dueMs <= item.dueMs) break;
      items[at] = parent;
      at = parentAt;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const [first] = this.#items;
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) this.#sink(last);
    return first;
  }

  #sink(item: T): void {
    const items = this.#items;
    let at = 0;
    for (let child = this.#smallerChild(at); child !== undefined; child = this.#smallerChild(at)) {
      if (child.item.dueMs >= item.dueMs) break;
      items[at] = child.item;
      ({ at } = child);
    }
    items[at] = item;
  }

  #smallerChild(parentAt: number): { readonly at: number; readonly item: T } | undefined {
    const at = 2 * parentAt + 1;
    const left = this.#items[at];
    const right = this.#items[at + 1];
    if (left === undefined) return undefined;
    return right !== undefined && right.dueMs < left.dueMs ? { at: at + 1, item: right } : { at, item: left };
  }
}
