import type { System, Timer } from "../system/system.ts";

/**
 * Ends a stream that fell silent, as a half-open connection does. The timer is set once and only reads the clock when it
 * fires: setting it again at each chunk would cost more than the chunk.
 */
export class IdleGuard implements Disposable {
  readonly #system: System;
  readonly #limitMs: () => number;
  readonly #outer: AbortSignal;
  readonly #controller = new AbortController();
  #touchedMs: number;
  #timer: Timer;
  #isIdle = false;

  /** `limitMs` is queried again each time: what counts as silence changes when the first events are there. */
  constructor(system: System, limitMs: () => number, outer: AbortSignal) {
    this.#system = system;
    this.#limitMs = limitMs;
    this.#outer = outer;
    this.#touchedMs = system.monotonicMs();
    this.#timer = this.#arm(limitMs());
    if (outer.aborted) this.#stop();
    else outer.addEventListener("abort", this.#stop);
  }

  /** Aborts when the stream is idle or its owner stops. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isIdle(): boolean {
    return this.#isIdle;
  }

  /** Something came. */
  touch(): void {
    this.#touchedMs = this.#system.monotonicMs();
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
    this.#outer.removeEventListener("abort", this.#stop);
  }

  #arm(delayMs: number): Timer {
    return this.#system.setTimer(delayMs, () => {
      const remainingMs = this.#touchedMs + this.#limitMs() - this.#system.monotonicMs();
      if (remainingMs > 0) {
        this.#timer = this.#arm(remainingMs);
        return;
      }
      this.#isIdle = true;
      this.#controller.abort();
    });
  }

  readonly #stop = (): void => {
    this.#controller.abort(this.#outer.reason);
  };
}
