import type { System } from "../system/system.ts";

/** How delays grow. */
export interface BackOffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Growing, jittered pauses that begin again after a time of health. */
export class BackOff {
  readonly #system: System;
  readonly #limits: BackOffLimits;
  #baseMs: number;
  #lastMs: number;

  constructor(system: System, limits: BackOffLimits) {
    this.#system = system;
    this.#limits = limits;
    this.#baseMs = limits.firstMs;
    this.#lastMs = system.monotonicMs();
  }

  /** The next pause: the base and up to as much again, never beyond the limit; then the base doubles. */
  nextMs(): number {
    const nowMs = this.#system.monotonicMs();
    if (nowMs - this.#lastMs > Math.max(healthyMs, 2 * this.#limits.longestMs)) this.reset();
    this.#lastMs = nowMs;
    const delayMs = Math.min(this.#baseMs * (1 + this.#system.random()), this.#limits.longestMs);
    this.#baseMs = Math.min(this.#baseMs * 2, this.#limits.longestMs);
    return delayMs;
  }

  reset(): void {
    this.#baseMs = this.#limits.firstMs;
  }
}

/** After this long without trouble, and longer than any pause of its own, the next one counts as the first. */
const healthyMs = 120_000;
