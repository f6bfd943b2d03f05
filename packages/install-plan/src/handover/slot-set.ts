/** A set of small whole numbers, one bit each: a thousand plans that each select a thousand others take 125 kB. */
export class SlotSet {
  #words = new Uint32Array(4);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(slot: number): boolean {
    return ((this.#words[slot >>> 5] ?? 0) & bitOf(slot)) !== 0;
  }

  /** False when it was there before. */
  add(slot: number): boolean {
    if (this.has(slot)) return false;
    const at = slot >>> 5;
    if (at >= this.#words.length) this.#grow(at);
    this.#words[at] = (this.#words[at] ?? 0) | bitOf(slot);
    this.#size += 1;
    return true;
  }

  delete(slot: number): void {
    if (!this.has(slot)) return;
    const at = slot >>> 5;
    this.#words[at] = (this.#words[at] ?? 0) & ~bitOf(slot);
    this.#size -= 1;
  }

  /** Ascending. Whole words of what is in `without` already are passed over at once. */
  *values(without?: SlotSet): Generator<number> {
    for (let at = 0; at < this.#words.length; at += 1) {
      let word = (this.#words[at] ?? 0) & ~(without?.wordAt(at) ?? 0);
      for (; word !== 0; word &= word - 1) yield at * 32 + (31 - Math.clz32(word & -word));
    }
  }

  /** For sets of the same numbering only. */
  wordAt(at: number): number {
    return this.#words[at] ?? 0;
  }

  #grow(at: number): void {
    const words = new Uint32Array(Math.max(at + 1, this.#words.length * 2));
    words.set(this.#words);
    this.#words = words;
  }
}

function bitOf(slot: number): number {
  return 1 << (slot & 31);
}
