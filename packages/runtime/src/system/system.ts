/** A timer that was set; disposing cancels it. */
export interface Timer extends Disposable {
  cancel(): void;
}

/** The only door to clock, timers, randomness, ids and environment. Everything takes it as an argument. */
export interface System {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Wall clock, milliseconds since the epoch; may jump. For what is written down. */
  wallMs(): number;
  /** Milliseconds since some moment; never jumps, runs on while the event loop is blocked. For deadlines and durations. */
  monotonicMs(): number;
  /** Calls back once after `delayMs`. Delays beyond what a timer can hold (24.8 days) are re-armed, not cut. */
  setTimer(delayMs: number, callback: () => void): Timer;
  /** Resolves after `delayMs`; rejects with the signal's reason as soon as it aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /** Resolves after other work that is due has had its turn. While urgent work keeps coming, it gets 20 ms. */
  yieldToOthers(): Promise<void>;
  /** Urgent work begins, such as a response that an API server waits for: who yields lets it go first. Disposing ends it. */
  beginUrgent(): Disposable;
  /** From 0 (inclusive) to 1 (exclusive). */
  random(): number;
  uuid(): string;
}
