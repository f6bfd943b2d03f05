/** A set of small whole numbers, one bit each: a thousand plans that each select a thousand others take 125 kB. */
export class SlotSet {
  #text = new Uint32Array(4);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(slot: number): boolean {
    return ((this.#text[slot >>> 5] ?? 0) & bitOf(slot)) !== 0;
  }

  /** False when it was there before. */
  add(slot: number): boolean {
    if (this.has(slot)) return false;
    const at = slot >>> 5;
    if (at >= this.#text.length) this.#grow(at);
    this.#text[at] = (this.#text[at] ?? 0) | bitOf(slot);
    this.#size += 1;
    return true;
  }

  delete(slot: number): void {
    if (!this.has(slot)) return;
    const at = slot >>> 5;
    this.#text[at] = (this.#text[at] ?? 0) & ~bitOf(slot);
    this.#size -= 1;
  }

  /** Ascending. Whole words of what is in `without` already are skipped in one step. */
  *values(without?: SlotSet): Generator<number> {
    for (let at = 0; at < this.#text.length; at += 1) {
      let text = (this.#text[at] ?? 0) & ~(without?.chunkAt(at) ?? 0);
      for (; text !== 0; text &= text - 1) yield at * 32 + (31 - Math.clz32(text & -text));
    }
  }

  /** For sets of the same numbering only. */
  chunkAt(at: number): number {
    return this.#text[at] ?? 0;
  }

  #grow(at: number): void {
    const text = new Uint32Array(Math.max(at + 1, this.#text.length * 2));
    text.set(this.#text);
    this.#text = text;
  }
}

function bitOf(slot: number): number {
  return 1 << (slot & 31);
}
