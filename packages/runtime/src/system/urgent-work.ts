import type { System } from "./system.ts";

/** Longer, and a cache would fall behind for as long as reviews never pause. With slices of 3 ms, a list still gets an eighth of the time. */
const longestWaitMs = 20;

/** A caller that got its response needs longer than a turn of the event loop to send the next review. */
const quietMs = 2;

export interface UrgentWorkOptions extends Pick<System, "monotonicMs" | "setTimer" | "sleep"> {
  /** Resolves after everything that is due now has had its turn. */
  readonly turn: () => Promise<void>;
}

/**
 * Work on this thread that an external client waits for, such as an API server for a review. Long work that yields continues after a turn of the
 * event loop without any; once there was some, after 2 ms without any. It never waits much longer than 20 ms.
 */
export class UrgentWork {
  readonly #options: UrgentWorkOptions;
  readonly #waiting = new Set<() => void>();
  #running = 0;
  #begun = 0;

  constructor(options: UrgentWorkOptions) {
    this.#options = options;
  }

  /** Urgent work begins; disposing ends it. */
  begin(): Disposable {
    this.#begun += 1;
    this.#running += 1;
    let isFinished = false;
    return {
      [Symbol.dispose]: () => {
        if (isFinished) return;
        isFinished = true;
        this.#running -= 1;
        if (this.#running === 0) for (const goOn of this.#waiting) goOn();
      },
    };
  }

  /** Resolves when there is none, or when it has had 20 ms. */
  async goesFirst(): Promise<void> {
    const { monotonicMs, turn, sleep } = this.#options;
    const endMs = monotonicMs() + longestWaitMs;
    let seen = this.#begun;
    await turn();
    while ((seen !== this.#begun || this.#running > 0) && monotonicMs() < endMs) {
      seen = this.#begun;
      if (this.#running > 0) await this.#untilDone(endMs - monotonicMs());
      await sleep(quietMs);
    }
  }

  /** Resolves when none is running any more, or after `limitMs`. */
  async #untilDone(limitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const goOn = (): void => {
      resolve(undefined);
    };
    using _ = this.#options.setTimer(limitMs, goOn);
    this.#waiting.add(goOn);
    await promise;
    this.#waiting.delete(goOn);
  }
}
