import type { ObjectKey } from "../object/kube-object.ts";
import type { System, Timer } from "../system/system.ts";

const everyMs = 300;

/**
 * Enqueues keys again and again for a while after an event. Some caches of the API server follow a change late: a Role that was
 * just created does not authorize yet, and no further event says when it does.
 */
export class Reenqueuer implements Disposable {
  readonly #system: System;
  readonly #enqueue: (key: ObjectKey) => void;
  readonly #untilMs = new Map<ObjectKey, number>();
  #timer: Timer | undefined;

  constructor(system: System, enqueue: (key: ObjectKey) => void) {
    this.#system = system;
    this.#enqueue = enqueue;
  }

  /** From now on and for so long; a later call for the same key extends it. */
  keep(key: ObjectKey, forMs: number): void {
    this.#untilMs.set(key, Math.max(this.#untilMs.get(key) ?? 0, this.#system.monotonicMs() + forMs));
    this.#timer ??= this.#arm();
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#untilMs.clear();
  }

  #arm(): Timer {
    return this.#system.setTimer(everyMs, () => {
      const nowMs = this.#system.monotonicMs();
      for (const [key, untilMs] of this.#untilMs) {
        this.#enqueue(key);
        if (untilMs <= nowMs) this.#untilMs.delete(key);
      }
      this.#timer = this.#untilMs.size === 0 ? undefined : this.#arm();
    });
  }
}
