import { Fifo } from "./fifo.ts";

/** Somebody in line. */
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
  /** Lanes with somebody in them, the one whose turn it is first. */
  readonly #turns = new Fifo<Lane<T>>();

  push(item: T): void {
    const { namespace } = item;
    let lane = this.#lanes.get(namespace);
    if (lane === undefined) {
      lane = { namespace, waiting: new Fifo() };
      this.#lanes.set(namespace, lane);
      this.#turns.push(lane);
    }
    lane.waiting.push(item);
  }

  shift(): T | undefined {
    const lane = this.#turns.shift();
    if (lane === undefined) return undefined;
    const item = lane.waiting.shift();
    if (lane.waiting.length > 0) this.#turns.push(lane);
    else this.#lanes.delete(lane.namespace);
    return item;
  }

  clear(): void {
    this.#lanes.clear();
    this.#turns.clear();
  }
}
