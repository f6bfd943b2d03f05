import { adjustClient, type Adjustment } from "../client/adjust-client.ts";
import type { CallOptions, Client } from "../client/client.ts";
import { AbortListener } from "../system/abort-listener.ts";
import type { System, Timer } from "../system/system.ts";

/** A reconcile took longer than it may; it is repeated later. */
export class ReconcileDeadlineError extends Error {
  /** Classified as a timeout. */
  override readonly name = "TimeoutError";
}

/** The time within which something may act. An AbortSignal is one too. */
export interface Scope {
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
  /** Throws the reason when the time is over. */
  throwIfOver(): void;
}

/** The scope that a signal ends. */
export function scopeOf(signal: AbortSignal): Scope {
  return {
    signal,
    throwIfOver: () => {
      signal.throwIfAborted();
    },
  };
}

/**
 * The time limit of all reconciles of a controller. They share one timer and one listener for the end of the term: those of
 * each were a sixth of what a reconcile that has nothing to do allocated.
 */
export class Deadlines implements Disposable {
  readonly #system: System;
  readonly #limitMs: number;
  /** In the order of their ends, for the limit is the same for all. */
  readonly #running = new Set<RunningReconcile>();
  readonly #terms = new AbortListener((term) => {
    for (const reconcile of this.#running) if (reconcile.term === term) reconcile.breakOff(term.reason);
  });
  #timer: Timer | undefined;

  constructor({ system, limitMs }: { readonly system: System; readonly limitMs: number }) {
    this.#system = system;
    this.#limitMs = limitMs;
  }

  /** Begins a reconcile, which ends after the limit or with its term. Dispose of it when it is over. */
  begin(term: AbortSignal): RunningReconcile {
    term.throwIfAborted();
    this.#terms.listenTo(term);
    const dueMs = this.#system.monotonicMs() + this.#limitMs;
    const reconcile = new RunningReconcile({ term, dueMs, running: this.#running });
    this.#running.add(reconcile);
    if (this.#timer === undefined) this.#arm(this.#limitMs);
    return reconcile;
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(delayMs: number): void {
    this.#timer = this.#system.setTimer(delayMs, () => {
      this.#endLate();
    });
  }

  #endLate(): void {
    this.#timer = undefined;
    const nowMs = this.#system.monotonicMs();
    for (const reconcile of this.#running) {
      if (reconcile.dueMs > nowMs) {
        this.#arm(reconcile.dueMs - nowMs);
        return;
      }
      reconcile.breakOff(new ReconcileDeadlineError(`the reconcile took longer than ${this.#limitMs} ms`));
    }
  }
}

interface ReconcileTime {
  readonly term: AbortSignal;
  readonly dueMs: number;
  /** All running reconciles; it removes itself. */
  readonly running: Set<RunningReconcile>;
}

/** The scope of one reconcile. Its signal is made on first use: making and aborting one takes 8 µs. */
export class RunningReconcile implements Scope, Disposable {
  readonly term: AbortSignal;
  readonly dueMs: number;
  readonly #running: Set<RunningReconcile>;
  #controller: AbortController | undefined;
  #over: { readonly reason: unknown } | undefined;
  #reject: ((reason: unknown) => void) | undefined;

  constructor({ term, dueMs, running }: ReconcileTime) {
    this.term = term;
    this.dueMs = dueMs;
    this.#running = running;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#over !== undefined) this.#controller.abort(this.#over.reason);
    }
    return this.#controller.signal;
  }

  throwIfOver(): void {
    if (this.#over !== undefined) throw this.#over.reason;
  }

  /** The result of the work; rejects when the reconcile is broken off first, and does not wait for the work beyond that. */
  async orBrokenOff<T>(work: Promise<T>): Promise<T> {
    return await new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#over !== undefined) reject(this.#over.reason);
      work.then(resolve, reject);
    });
  }

  breakOff(reason: unknown): void {
    if (this.#over !== undefined) return;
    this.#running.delete(this);
    this.#over = { reason };
    this.#controller?.abort(reason);
    this.#reject?.(reason);
  }

  /** Work that ignores its signal is fenced off from now on. */
  [Symbol.dispose](): void {
    this.breakOff(reconcileIsOver);
  }
}

/** One for all reconciles: an error's stack is dear, and every reconcile ends this way. */
const reconcileIsOver = new DOMException("the reconcile is over", "AbortError");

export interface Fence extends Pick<Adjustment, "onWritten"> {
  /** Once it is over, running calls end and new ones are refused before anything is sent. */
  readonly scope: Scope;
}

/**
 * A client that ends with its reconcile: nothing is written after the deadline, after leadership was lost or after the manager
 * announced its end, even by code that ignores its signal.
 */
export function fenceClient(client: Client, { scope, onWritten }: Fence): Client {
  const within = <T extends CallOptions>(options: T): T => {
    scope.throwIfOver();
    const { signal } = options;
    return {
      ...options,
      signal: signal === undefined ? scope.signal : AbortSignal.any([signal, scope.signal]),
    };
  };
  return adjustClient(client, {
    reading: within,
    writing: within,
    onWritten,
  });
}
