/** When the work began that is not finished yet. Ends are matched to beginnings approximately. */
export class RunningWork {
  readonly #startsMs: number[] = [];

  begin(nowMs: number): void {
    this.#startsMs.push(nowMs);
  }

  /** The work that began at about this moment is over. */
  end(startMs: number): void {
    const distances = this.#startsMs.map((each) => Math.abs(each - startMs));
    const closest = distances.indexOf(Math.min(...distances));
    if (closest !== -1) this.#startsMs.splice(closest, 1);
  }

  totalMs(nowMs: number): number {
    return this.#startsMs.reduce((sum, startMs) => sum + Math.max(0, nowMs - startMs), 0);
  }

  longestMs(nowMs: number): number {
    return Math.max(0, ...this.#startsMs.map((startMs) => nowMs - startMs));
  }
}
