import type { System } from "./system.ts";

/** Longer, and a cache would fall behind for as long as reviews never pause. With slices of 3 ms, a list still gets an eighth of the time. */
const longestWaitMs = 20;

/** What turns and waits are made of. */
export interface UrgentWorkOptions extends Pick<System, "monotonicMs" | "setTimer"> {
  /** Resolves after everything that is due now has had its turn. */
  readonly turn: () => Promise<void>;
}

/**
 * Work on this thread that somebody outside waits for, such as an API server for a review. Long work that yields goes on after a turn of the
 * event loop without any, but never waits much longer than 20 ms.
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
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        this.#running -= 1;
        if (this.#running === 0) for (const goOn of this.#waiting) goOn();
      },
    };
  }

  /** Resolves after a turn in which no urgent work was running or began, or when it has had 20 ms. */
  async goesFirst(): Promise<void> {
    const { monotonicMs, turn } = this.#options;
    const endMs = monotonicMs() + longestWaitMs;
    let seen: number;
    do {
      seen = this.#begun;
      await turn();
      if (this.#running > 0) await this.#untilDone(endMs - monotonicMs());
    } while (seen !== this.#begun && monotonicMs() < endMs);
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
