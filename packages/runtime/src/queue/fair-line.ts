/** One waiting task. */
interface Waiting {
  /** Whose turn it takes. */
  readonly namespace: string;
}

interface Lane<T> {
  readonly namespace: string;
  readonly waiting: Fifo<T>;
}

/**
 * A line in which namespaces take turns: one tenant with thousands in line does not make the others wait. Within a namespace
 * first come, first served. Constant time.
 */
export class FairLine<T extends Waiting> {
  readonly #lanes = new Map<string, Lane<T>>();
  /** Lanes with waiting tasks, the next one first. */
  readonly #turns = new Fifo<Lane<T>>();

  push(item: T): void {
    const { namespace } = item;
    let lane = this.#lanes.get(namespace);
    if (lane === undefined) {
      lane = { namespace, waiting: new Fifo() };
      this.#lanes.set(namespace, lane);
    }
    if (lane.waiting.length === 0) this.#turns.push(lane);
    lane.waiting.push(item);
  }

  shift(): T | undefined {
    const lane = this.#turns.shift();
    if (lane === undefined) return undefined;
    const item = lane.waiting.shift();
    if (lane.waiting.length > 0) this.#turns.push(lane);
    else if (this.#lanes.size > keptLanes) this.#lanes.delete(lane.namespace);
    return item;
  }

  clear(): void {
    this.#lanes.clear();
    this.#turns.clear();
  }
}

/** Empty lanes of so many namespaces stay: a queue that is drained as fast as it fills would make one for each key. */
const keptLanes = 256;

/** First in, first out, in constant time; `Array.shift` would move everything up. */
class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    // What has left must not be kept from the garbage collector until the list is moved up.
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head > 1_024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  clear(): void {
    if (this.#items.length === 0) return;
    this.#items = [];
    this.#head = 0;
  }
}
