import type { System } from "../system/system.ts";

/** Longer, and webhooks and timers that share the event loop would feel it. */
const budgetMs = 3;

/** Reading the clock costs as much as a small event: it is read once for so many. */
const observesEvery = 8;

/** Keeps long work from holding the event loop: after 3 ms other work gets a turn. */
export class TurnBudget {
  readonly #system: System;
  #endMs: number;
  #count = 0;

  constructor(system: System) {
    this.#system = system;
    this.#endMs = system.monotonicMs() + budgetMs;
  }

  isSpent(): boolean {
    this.#count += 1;
    return this.#count % observesEvery === 0 && this.#system.monotonicMs() > this.#endMs;
  }

  async renew(): Promise<void> {
    await this.#system.yieldToOthers();
    this.#endMs = this.#system.monotonicMs() + budgetMs;
  }
}
