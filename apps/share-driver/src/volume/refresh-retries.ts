import type { System } from "@quartermaster/runtime";

const firstRetryMs = 5000;
const longestRetryMs = 600_000;

/**
 * Refreshes that were refused and are tried again: no watch reports that a permission was granted again or that the API server is back. The time
 * between two attempts doubles, from 5 seconds to 10 minutes.
 */
export class RefreshRetries {
  readonly #system: Pick<System, "setTimer" | "random">;
  readonly #retry: (volumeId: string) => void;
  readonly #pending = new Map<string, { readonly delayMs: number; readonly timer: Disposable }>();

  constructor(system: Pick<System, "setTimer" | "random">, retry: (volumeId: string) => void) {
    this.#system = system;
    this.#retry = retry;
  }

  /** Tries this volume again later, in place of a retry that was scheduled before. */
  schedule(volumeId: string): void {
    const former = this.#pending.get(volumeId);
    former?.timer[Symbol.dispose]();
    const delayMs = former === undefined ? firstRetryMs : Math.min(2 * former.delayMs, longestRetryMs);
    const timer = this.#system.setTimer(delayMs * (1 + this.#system.random() / 4), () => {
      this.#retry(volumeId);
    });
    this.#pending.set(volumeId, { delayMs, timer });
  }

  /** The volume is up to date, or was unpublished. */
  forget(volumeId: string): void {
    this.#pending.get(volumeId)?.timer[Symbol.dispose]();
    this.#pending.delete(volumeId);
  }

  /** Ends all retries. */
  stop(): void {
    for (const volumeId of this.#pending.keys()) this.forget(volumeId);
  }
}
