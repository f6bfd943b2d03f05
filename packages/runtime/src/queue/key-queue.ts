import { unreachable } from "../unreachable.ts";
import { DueHeap } from "./due-heap.ts";
import { FairLine } from "./fair-line.ts";

/** How a key is added. */
export interface AddOptions {
  /** Default: `normal`; adding again can raise it, never lower it. */
  readonly priority?: Priority;
  /** Not before so many milliseconds from now; of several the earliest counts. */
  readonly afterMs?: number;
}

/** So many keys of normal priority in a row, then one that is low gets its turn: no one waits for ever. */
const lowTurnEvery = 16;

interface DueTicket {
  readonly dueMs: number;
  readonly entry: KeyEntry;
}

/** A key to work on, and how long it stood in line. */
export interface Taken {
  readonly key: string;
  readonly waitedMs: number;
}

/**
 * Keys that need attention. A key is in it once, however often it is added; it is worked on by one at a time; added while it
 * is worked on, it comes back once. Namespaces take turns. Pure: time is an argument (monotonic milliseconds).
 */
export class KeyQueue {
  readonly #entries = new Map<string, KeyEntry>();
  readonly #lines: Readonly<Record<Priority, FairLine<KeyEntry>>> = {
    normal: new FairLine(),
    low: new FairLine(),
  };
  readonly #delayed = new DueHeap<DueTicket>();
  readonly #depths: Record<Priority, number> = { normal: 0, low: 0 };
  #normalInRow = 0;

  /** Keys that are ready to be taken. */
  get depth(): number {
    return this.#depths.normal + this.#depths.low;
  }

  /** The same by priority. */
  get depths(): Readonly<Record<Priority, number>> {
    return this.#depths;
  }

  /** All keys known: ready, delayed or worked on. */
  get size(): number {
    return this.#entries.size;
  }

  /** True when the key was not waiting already: merged adds are not counted as adds. */
  add(key: string, nowMs: number, { priority = "normal", afterMs = 0 }: AddOptions = {}): boolean {
    const entry = this.#entry(key);
    // What fell due while it is worked on is owed already; a new appointment must not be merged with it.
    if (entry.location === "running" && entry.dueMs <= nowMs) this.#promote(nowMs);
    if (afterMs > 0) return this.#delay(entry, nowMs + afterMs);
    switch (entry.location) {
      case "ready":
        if (priority === "normal" && entry.priority === "low") this.#enter(entry, priority, entry.readyMs);
        return false;
      case "running":
        return entry.remember(priority);
      case "delayed":
      case "none":
        this.#enter(entry, priority, nowMs);
        return true;
      default:
        return unreachable(entry.location);
    }
  }

  /** The next key, which is then being worked on until `done`; undefined when none is ready. */
  take(nowMs: number): Taken | undefined {
    this.#promote(nowMs);
    const entry = this.#next();
    if (entry === undefined) return undefined;
    this.#depths[entry.priority] -= 1;
    entry.run();
    return { key: entry.key, waitedMs: nowMs - entry.readyMs };
  }

  /** The work on the key is over, however it ended. */
  done(key: string, nowMs: number): void {
    const entry = this.#entries.get(key);
    if (entry?.location !== "running") return;
    const again = entry.rest();
    if (again !== undefined) this.#enter(entry, again, nowMs);
    else if (entry.isDone) this.#entries.delete(key);
  }

  /** When the next delayed key falls due; undefined when none is delayed. */
  nextDueMs(): number | undefined {
    for (let top = this.#delayed.top; top !== undefined; top = this.#delayed.top) {
      if (isValid(top)) return top.dueMs;
      this.#delayed.pop();
    }
    return undefined;
  }

  #entry(key: string): KeyEntry {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = new KeyEntry(key);
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #enter(entry: KeyEntry, priority: Priority, readyMs: number): void {
    if (entry.location === "ready") this.#depths[entry.priority] -= 1;
    // Tickets of keys that were raised stay behind in the low line; they must not pile up.
    if (this.#depths.low === 0) this.#lines.low.clear();
    entry.enter(priority, readyMs);
    this.#depths[priority] += 1;
    this.#lines[priority].push(entry);
  }

  /** A key that is ready comes sooner anyway. One that is worked on keeps its appointment beside that. */
  #delay(entry: KeyEntry, dueMs: number): boolean {
    if (entry.location === "ready" || entry.dueMs <= dueMs) return false;
    const isNew = entry.location === "none";
    entry.delay(dueMs);
    this.#delayed.push({ dueMs, entry });
    return isNew;
  }

  #promote(nowMs: number): void {
    for (let dueMs = this.nextDueMs(); dueMs !== undefined && dueMs <= nowMs; dueMs = this.nextDueMs()) {
      const entry = this.#delayed.pop()?.entry;
      if (entry === undefined) return;
      entry.dueMs = never;
      if (entry.location === "running") entry.remember("normal");
      else this.#enter(entry, "normal", dueMs);
    }
  }

  #next(): KeyEntry | undefined {
    const isLowsTurn =
      this.#depths.normal === 0 || (this.#normalInRow >= lowTurnEvery && this.#depths.low > 0);
    this.#normalInRow = isLowsTurn ? 0 : this.#normalInRow + 1;
    const priority = isLowsTurn ? "low" : "normal";
    const line = this.#lines[priority];
    for (let entry = line.shift(); entry !== undefined; entry = line.shift()) {
      if (entry.location === "ready" && entry.priority === priority) return entry;
    }
    return undefined;
  }
}

function isValid({ dueMs, entry }: DueTicket): boolean {
  return entry.dueMs === dueMs;
}

/** `low` is for what can wait: the initial list and events that changed nothing. */
export type Priority = "normal" | "low";

/** Where a key is: in line, waiting for its time, worked on, or nowhere. */
type Location = "ready" | "delayed" | "running" | "none";

/** A time that does not come. */
const never = Number.POSITIVE_INFINITY;

/** All that is known of one key. A ticket in a line counts only while the entry agrees with it. */
export class KeyEntry {
  readonly key: string;
  /** Empty for what is in none. */
  readonly namespace: string;
  location: Location = "none";
  priority: Priority = "low";
  dueMs = never;
  /** When it got into the line; for latency. */
  readyMs = 0;
  /** Added while worked on: has to run once more, with this priority. */
  #again: Priority | undefined;

  constructor(key: string) {
    this.key = key;
    this.namespace = key.slice(0, Math.max(0, key.indexOf("/")));
  }

  /** Nothing is left to do for the key. */
  get isDone(): boolean {
    return this.location === "none";
  }

  /** Into the line; an appointment for later is void. */
  enter(priority: Priority, readyMs: number): void {
    this.location = "ready";
    this.priority = priority;
    this.readyMs = readyMs;
    this.dueMs = never;
  }

  delay(dueMs: number): void {
    this.dueMs = dueMs;
    if (this.location === "none") this.location = "delayed";
  }

  run(): void {
    this.location = "running";
  }

  /** True when no one had requested another run yet. */
  remember(priority: Priority): boolean {
    const isNew = this.#again === undefined;
    this.#again = this.#again === "normal" ? "normal" : priority;
    return isNew;
  }

  /** The work is over. Returns with which priority it has to be done again, if so. */
  rest(): Priority | undefined {
    const again = this.#again;
    this.#again = undefined;
    this.location = this.dueMs === never ? "none" : "delayed";
    return again;
  }
}
