/** A frame beyond this is no object of a cluster: etcd holds 1.5 MiB, and escaping makes six times that at most. */
const frameLimitBytes = 32 * 1024 * 1024;

const newline = 10;

/** Cuts a stream of bytes into the lines it is made of, wherever the chunks happen to end: also within a character. */
export class FrameSplitter {
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;

  /** The whole frames that this chunk completes, oldest first. Throws a RangeError when one is beyond all measure. */
  split(chunk: Uint8Array): readonly string[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const frames: string[] = [];
    let start = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      const frame = this.#pendingBytes === 0 ? bytes.toString("utf8", start, end) : this.#join(bytes, end);
      if (frame !== "") frames.push(frame);
      start = end + 1;
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
    return frames;
  }

  /** Chunks are joined once, when the frame is whole: joining at each chunk would be quadratic. */
  #join(bytes: Uint8Array, end: number): string {
    const whole = Buffer.concat([...this.#pending, bytes.subarray(0, end)]);
    this.#pending = [];
    this.#pendingBytes = 0;
    return whole.toString("utf8");
  }

  #keep(rest: Uint8Array): void {
    this.#pendingBytes += rest.length;
    if (this.#pendingBytes > frameLimitBytes) throw new RangeError("a frame exceeds 32 MiB");
    this.#pending.push(rest);
  }
}
