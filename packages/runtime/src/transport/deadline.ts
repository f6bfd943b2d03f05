import type { System, Timer } from "../system/system.ts";

/** Why a call ended before its response. */
export type EarlyEnd = "aborted" | "timeout";

/** When a call must be over: at its time limit or when its caller gives up, whichever comes first. One per call. */
export class Deadline implements Disposable {
  readonly #system: System;
  readonly #signal: AbortSignal | undefined;
  readonly #endMs: number;
  readonly #timer: Timer;
  #ended: EarlyEnd | undefined;
  #listener: (() => void) | undefined;

  constructor(system: System, timeoutMs: number, signal?: AbortSignal) {
    this.#system = system;
    this.#signal = signal;
    this.#endMs = system.monotonicMs() + timeoutMs;
    this.#timer = system.setTimer(timeoutMs, this.#expire);
    if (signal?.aborted === true) this.#ended = "aborted";
    else signal?.addEventListener("abort", this.#abort);
  }

  /** Undefined while the call may continue. */
  get ended(): EarlyEnd | undefined {
    return this.#ended;
  }

  /** The caller's reason. */
  get abortReason(): unknown {
    const reason: unknown = this.#signal?.reason;
    return reason;
  }

  get remainingMs(): number {
    return this.#endMs - this.#system.monotonicMs();
  }

  /** Calls back when the end comes; replaces the former listener, `undefined` removes it. Immediately when it has come. */
  onEnd(listener: (() => void) | undefined): void {
    this.#listener = listener;
    if (this.#ended !== undefined) listener?.();
  }

  /** The value of the promise, or undefined when the end comes first. */
  async within<T>(promise: Promise<T>): Promise<T | undefined> {
    const over = Promise.withResolvers<undefined>();
    this.onEnd(() => {
      over.resolve(undefined);
    });
    try {
      return await Promise.race([promise, over.promise]);
    } finally {
      this.onEnd(undefined);
    }
  }

  /** Sleeps, but not beyond the end: resolves early then. */
  async sleep(delayMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const wake = (): void => {
      resolve(undefined);
    };
    const timer = this.#system.setTimer(delayMs, wake);
    this.onEnd(wake);
    await promise;
    timer.cancel();
    this.onEnd(undefined);
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#listener = undefined;
  }

  readonly #expire = (): void => {
    this.#end("timeout");
  };

  readonly #abort = (): void => {
    this.#end("aborted");
  };

  #end(why: EarlyEnd): void {
    if (this.#ended !== undefined) return;
    this.#ended = why;
    this.#listener?.();
  }
}
