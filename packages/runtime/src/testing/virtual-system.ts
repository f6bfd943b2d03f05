import { realSystem, sleepWith } from "../system/real-system.ts";
import type { System, Timer } from "../system/system.ts";

/** How a virtual system begins. */
export interface VirtualSystemOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The same seed gives the same random numbers and ids (default: 1). */
  readonly seed?: number;
  /** Wall clock at the start (default: 2026-01-01T00:00:00Z). */
  readonly startMs?: number;
}

interface PendingTimer {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Rounds of the event loop that one pause between timers may take before it counts as endless. */
const roundLimit = 10_000;

/**
 * Time that only moves when a test says so.
 *
 * @example
 * const system = new VirtualSystem();
 * const woken = system.sleep(60_000);
 * await system.advance(60_000);
 * await woken;
 */
export class VirtualSystem implements System {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly #real = realSystem();
  readonly #timers = new Set<PendingTimer>();
  readonly #startMs: number;
  #nowMs = 0;
  #wallOffsetMs = 0;
  #order = 0;
  #state: number;
  #yielding = 0;

  constructor({ env = {}, seed = 1, startMs = Date.UTC(2026, 0, 1) }: VirtualSystemOptions = {}) {
    this.env = env;
    this.#state = seed;
    this.#startMs = startMs;
  }

  /** Timers that are set and have not fired. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Moves time forward, fires what falls due in order, and lets everything run that follows from each. */
  async advance(ms: number): Promise<void> {
    const targetMs = this.#nowMs + ms;
    await this.settle();
    for (let due = this.#next(targetMs); due !== undefined; due = this.#next(targetMs)) {
      this.#timers.delete(due);
      this.#nowMs = Math.max(this.#nowMs, due.dueMs);
      due.callback();
      await this.settle();
    }
    this.#nowMs = Math.max(this.#nowMs, targetMs);
  }

  /** Lets promises and yields that are due run; time stands still. */
  async settle(): Promise<void> {
    await this.#real.yieldToOthers();
    for (let round = 0; this.#yielding > 0; round += 1) {
      if (round > roundLimit) throw new Error("work that yields for ever: virtual time cannot continue");
      await this.#real.yieldToOthers();
    }
  }

  /** Time continues but nothing runs, as when the event loop is blocked; what fell due fires at the next `advance`. */
  block(ms: number): void {
    this.#nowMs += ms;
  }

  /** The wall clock is set forward or back; deadlines must not notice. */
  jumpWall(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  wallMs(): number {
    return this.#startMs + this.#nowMs + this.#wallOffsetMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    this.#order += 1;
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#order, callback };
    this.#timers.add(timer);
    const cancel = (): void => {
      this.#timers.delete(timer);
    };
    return { cancel, [Symbol.dispose]: cancel };
  }

  async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    await sleepWith((ms, callback) => this.setTimer(ms, callback), delayMs, signal);
  }

  async yieldToOthers(): Promise<void> {
    this.#yielding += 1;
    await this.#real.yieldToOthers();
    this.#yielding -= 1;
  }

  beginUrgent(): Disposable {
    return this.#real.beginUrgent();
  }

  /** Mulberry32: small, even, and the same on every machine. */
  random(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  uuid(): string {
    const hex = Array.from({ length: 32 }, () => Math.floor(this.random() * 16).toString(16)).join("");
    const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
    return [...parts, hex.slice(20)].join("-");
  }

  #next(untilMs: number): PendingTimer | undefined {
    let first: PendingTimer | undefined;
    for (const timer of this.#timers) if (isBefore(timer, first)) first = timer;
    return first !== undefined && first.dueMs <= untilMs ? first : undefined;
  }
}

function isBefore(timer: PendingTimer, other: PendingTimer | undefined): boolean {
  if (other === undefined) return true;
  return timer.dueMs === other.dueMs ? timer.order < other.order : timer.dueMs < other.dueMs;
}
