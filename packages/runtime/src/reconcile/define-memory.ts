import type { Live } from "../object/kube-object.ts";

/** A place in the memory of each object, with the value that it starts with. */
export interface MemorySlot<T> {
  readonly name: string;
  readonly create: () => T;
}

/**
 * Names something that a controller remembers of each object between reconciles. It is a cache: the process may end at any time,
 * and losing it must never change an outcome. The runtime drops it with the object.
 *
 * @example
 * const attempts = defineMemory("attempts", () => ({ count: 0 }));
 * ctx.memory(attempts).count += 1;
 */
export function defineMemory<T>(name: string, create: () => T): MemorySlot<T> {
  return Object.freeze({ name, create });
}

/** The memories of all objects of one controller, by uid: an object made again under its name starts again. */
export class Memories {
  readonly #byUid = new Map<string, Map<MemorySlot<unknown>, unknown>>();

  get size(): number {
    return this.#byUid.size;
  }

  of<T>({ metadata: { uid } }: Live, slot: MemorySlot<T>): T {
    const values = this.#byUid.get(uid) ?? new Map<MemorySlot<unknown>, unknown>();
    this.#byUid.set(uid, values);
    if (!values.has(slot)) values.set(slot, slot.create());
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- kept under the slot that made it
    return values.get(slot) as T;
  }

  /** The object no longer exists. */
  forget(uid: string): void {
    this.#byUid.delete(uid);
  }
}
