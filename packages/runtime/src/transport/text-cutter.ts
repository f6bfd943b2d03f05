const quote = 0x22;
const backslash = 0x5c;

/**
 * Empties the long strings out of JSON while it arrives: who wants the names of a Secret's keys must not hold its values, not even for the
 * moment of parsing. Everything else stays as it is, so that what remains is JSON again. Names of keys count as strings too: the limit
 * must be above the longest that is of interest.
 *
 * @example
 * const cutter = new TextCutter(512);
 * const short = Buffer.concat([...chunks.map((chunk) => cutter.cut(chunk)), cutter.end()]);
 */
export class TextCutter {
  readonly #limitBytes: number;
  /** The string that the last chunk ended in: its bytes so far, of which none are kept once it is too long. */
  #open: { held: Uint8Array[]; lengthBytes: number; isEscaping: boolean } | undefined;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The rest of a chunk, as a copy: a part of a chunk would keep the whole of it in memory. */
  cut(chunk: Uint8Array): Buffer {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const kept: Uint8Array[] = [];
    let at = this.#open === undefined ? 0 : this.#goOn(bytes, kept);
    let from = at;
    while (at < bytes.length) {
      const start = bytes.indexOf(quote, at) + 1;
      if (start === 0) break;
      const end = endOfString(bytes, start, false);
      if (end === -1) {
        kept.push(bytes.subarray(from, start));
        this.#begin(bytes.subarray(start));
        return Buffer.concat(kept);
      }
      if (end - start > this.#limitBytes) {
        kept.push(bytes.subarray(from, start));
        from = end;
      }
      at = end + 1;
    }
    kept.push(bytes.subarray(from));
    return Buffer.concat(kept);
  }

  /** The held part of a string without an end: such text is broken, and its reader should see that. */
  end(): Buffer {
    const { held = [] } = this.#open ?? {};
    this.#open = undefined;
    return Buffer.concat(held);
  }

  /** Continues with the string that was open. Returns where the text after it begins, its closing quote included. */
  #goOn(bytes: Buffer, kept: Uint8Array[]): number {
    const end = endOfString(bytes, 0, this.#open?.isEscaping === true);
    this.#hold(end === -1 ? bytes : bytes.subarray(0, end));
    if (end === -1) return bytes.length;
    kept.push(...(this.#open?.held ?? []), bytes.subarray(end, end + 1));
    this.#open = undefined;
    return end + 1;
  }

  #begin(piece: Buffer): void {
    this.#open = { held: [], lengthBytes: 0, isEscaping: false };
    this.#hold(piece);
  }

  #hold(piece: Buffer): void {
    if (this.#open === undefined) return;
    this.#open.isEscaping = isEscaped(piece, { start: 0, at: piece.length }, this.#open.isEscaping);
    this.#open.lengthBytes += piece.length;
    if (this.#open.lengthBytes > this.#limitBytes) this.#open.held = [];
    else this.#open.held.push(Buffer.from(piece));
  }
}

/**
 * Frees the memory of a chunk that was read to its end, once undici has let go of it. Otherwise it would be freed by the next collection of
 * the heap, and chunks hardly touch the heap: 20 MB of them may lie around before there is one. Only for a chunk that no one pauses in.
 */
export function freeSoon({ buffer }: Uint8Array): void {
  // It may be part of a pool that all small Buffers share: only pools have this length.
  if (!(buffer instanceof ArrayBuffer) || buffer.byteLength === Buffer.poolSize) return;
  queueMicrotask(() => {
    if (!buffer.detached) buffer.transfer(0);
  });
}

/** Index of the quote that ends the string which continues at `start`; -1 when it is not in these bytes. */
function endOfString(bytes: Buffer, start: number, isEscaping: boolean): number {
  for (let at = bytes.indexOf(quote, start); at !== -1; at = bytes.indexOf(quote, at + 1)) {
    if (!isEscaped(bytes, { start, at }, isEscaping)) return at;
  }
  return -1;
}

/** Whether the byte at a place is escaped: an odd number of backslashes is before it. `wasEscaping`: one came before `start` and counts. */
function isEscaped(
  bytes: Buffer,
  { start, at }: { readonly start: number; readonly at: number },
  wasEscaping: boolean,
): boolean {
  let first = at;
  while (first > start && bytes[first - 1] === backslash) first -= 1;
  const before = first === start && wasEscaping ? 1 : 0;
  return (at - first + before) % 2 === 1;
}
