/** Bytes that the manifests of one plan may unpack to, each counted once. */
const planLimitBytes = 16 * 2 ** 20;

/** What has been unpacked for one plan. */
export class InflatedSize {
  readonly limitBytes: number;
  #bytes = 0;

  constructor(limitBytes: number = planLimitBytes) {
    this.limitBytes = limitBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get leftBytes(): number {
    return this.limitBytes - this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }
}
