/**
 * Hears of the end of signals that are given to it again and again. Nothing is added and taken off for
 * each short wait: each signal has one listener for its whole life.
 */
export class AbortListener {
  readonly #known = new WeakSet<AbortSignal>();
  readonly #onAbort: (signal: AbortSignal) => void;

  constructor(onAbort: (signal: AbortSignal) => void) {
    this.#onAbort = onAbort;
  }

  /** From now on its end is heard of, once. A signal that has aborted already is not. */
  listenTo(signal: AbortSignal): void {
    if (this.#known.has(signal)) return;
    this.#known.add(signal);
    signal.addEventListener(
      "abort",
      () => {
        this.#onAbort(signal);
      },
      { once: true },
    );
  }
}
