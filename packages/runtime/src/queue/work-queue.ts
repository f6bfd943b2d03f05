import { AbortListener } from "../system/abort-listener.ts";
import type { System, Timer } from "../system/system.ts";
import { type AddOptions, KeyQueue, type Priority } from "./key-queue.ts";

/** Hooks for metrics. */
export interface QueueObserver {
  queueAdded?(): void;
  queueDepth?(depths: Readonly<Record<Priority, number>>): void;
  queueLatency?(durationMs: number): void;
  workDuration?(durationMs: number): void;
  queueRetried?(): void;
}

/** How failures are retried. */
export interface RetryLimits {
  /** Default: 5 ms. */
  readonly firstMs?: number;
  /** Default: 1,000 s. */
  readonly longestMs?: number;
}

/** A worker that waits for a key. */
interface Taker {
  readonly signal: AbortSignal;
  readonly resolve: (key: string | undefined) => void;
}

export interface WorkQueueOptions {
  readonly system: System;
  readonly observer?: QueueObserver;
  readonly retry?: RetryLimits;
}

/** A KeyQueue with a clock: workers wait for keys, delayed keys wake them, failed keys come back later each time. */
export class WorkQueue {
  readonly #keys = new KeyQueue();
  readonly #system: System;
  readonly #observer: QueueObserver;
  readonly #retry: Required<RetryLimits>;
  readonly #failures = new Map<string, number>();
  readonly #startedMs = new Map<string, number>();
  #takers: Taker[] = [];
  readonly #endings = new AbortListener((signal) => {
    this.#sendAway(signal);
  });
  #timer: { readonly timer: Timer; readonly dueMs: number } | undefined;

  constructor({ system, observer = {}, retry = {} }: WorkQueueOptions) {
    this.#system = system;
    this.#observer = observer;
    this.#retry = { firstMs: 5, longestMs: 1_000_000, ...retry };
  }

  /** Keys that are ready to be taken. */
  get depth(): number {
    return this.#keys.depth;
  }

  /** All keys known: ready, delayed or worked on. */
  get size(): number {
    return this.#keys.size;
  }

  add(key: string, options?: AddOptions): void {
    if (this.#keys.add(key, this.#system.monotonicMs(), options)) this.#observer.queueAdded?.();
    this.#serve();
  }

  /** The next key; waits for one until the signal aborts and then gives undefined. Call `done` when the work is over. */
  async take(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return undefined;
    const key = this.#takers.length === 0 ? this.#takeNow() : undefined;
    if (key !== undefined) return key;
    this.#endings.listenTo(signal);
    return await new Promise((resolve) => {
      this.#takers.push({ signal, resolve });
      this.#serve();
    });
  }

  /** The work on the key is over. */
  done(key: string): void {
    const nowMs = this.#system.monotonicMs();
    this.#keys.done(key, nowMs);
    this.#observer.workDuration?.(nowMs - (this.#startedMs.get(key) ?? nowMs));
    this.#startedMs.delete(key);
    this.#serve();
  }

  /** The work failed: the key comes back, later after each failure, not before `atLeastMs`. Returns the delay. */
  retry(key: string, atLeastMs = 0): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.#observer.queueRetried?.();
    const { firstMs, longestMs } = this.#retry;
    const baseMs = Math.min(firstMs * 2 ** Math.min(failures, 60), longestMs);
    // Half fixed, half random: keys that failed together do not come back together.
    const delayMs = Math.max(baseMs * (0.5 + this.#system.random() / 2), atLeastMs);
    this.add(key, { afterMs: delayMs });
    return delayMs;
  }

  /** The work succeeded: the next failure counts as the first. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** How often in a row the key failed. */
  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Nothing more will be taken: timers are cancelled. */
  close(): void {
    this.#timer?.timer.cancel();
    this.#timer = undefined;
  }

  #takeNow(): string | undefined {
    const nowMs = this.#system.monotonicMs();
    const taken = this.#keys.take(nowMs);
    if (taken === undefined) return undefined;
    this.#startedMs.set(taken.key, nowMs);
    this.#observer.queueLatency?.(taken.waitedMs);
    this.#observer.queueDepth?.(this.#keys.depths);
    return taken.key;
  }

  /** Hands keys to waiting workers, and wakes up for the next delayed key. */
  #serve(): void {
    while (this.#takers.length > 0) {
      const key = this.#takeNow();
      if (key === undefined) break;
      this.#takers.shift()?.resolve(key);
    }
    if (this.#takers.length > 0) this.#arm();
    else this.#observer.queueDepth?.(this.#keys.depths);
  }

  /** Those to whom a key was handed over just now are not in line any more, and keep it. */
  #sendAway(signal: AbortSignal): void {
    const leaving = this.#takers.filter((taker) => taker.signal === signal);
    this.#takers = this.#takers.filter((taker) => taker.signal !== signal);
    for (const { resolve } of leaving) resolve(undefined);
  }

  #arm(): void {
    const dueMs = this.#keys.nextDueMs();
    if (dueMs === this.#timer?.dueMs) return;
    this.close();
    if (dueMs === undefined) return;
    const timer = this.#system.setTimer(Math.max(0, dueMs - this.#system.monotonicMs()), () => {
      this.#timer = undefined;
      this.#serve();
    });
    this.#timer = { timer, dueMs };
  }
}
