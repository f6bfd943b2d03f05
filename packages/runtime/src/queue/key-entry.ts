import { refOf } from "../object/kube-object.ts";

/** `low` is for what can wait: the initial list and events that changed nothing. */
export type Priority = "normal" | "low";

/** Where a key is: in line, waiting for its time, worked on, or nowhere. */
type Place = "ready" | "delayed" | "running" | "none";

/** A time that does not come. */
export const never = Number.POSITIVE_INFINITY;

/** All that is known of one key. A ticket in a line counts only while the entry agrees with it. */
export class KeyEntry {
  readonly key: string;
  /** Empty for what is in none. */
  readonly namespace: string;
  place: Place = "none";
  priority: Priority = "low";
  dueMs = never;
  /** When it got into the line; for latency. */
  readyMs = 0;
  /** Added while worked on: has to run once more, with this priority. */
  #again: Priority | undefined;

  constructor(key: string) {
    this.key = key;
    this.namespace = refOf(key).namespace ?? "";
  }

  /** Nothing is left to do for the key. */
  get isDone(): boolean {
    return this.place === "none";
  }

  /** Into the line; an appointment for later is void. */
  enter(priority: Priority, readyMs: number): void {
    this.place = "ready";
    this.priority = priority;
    this.readyMs = readyMs;
    this.dueMs = never;
  }

  delay(dueMs: number): void {
    this.dueMs = dueMs;
    if (this.place === "none") this.place = "delayed";
  }

  run(): void {
    this.place = "running";
  }

  /** True when nobody had asked for another run yet. */
  remember(priority: Priority): boolean {
    const isNew = this.#again === undefined;
    this.#again = this.#again === "normal" ? "normal" : priority;
    return isNew;
  }

  /** The work is over. Returns with which priority it has to be done again, if so. */
  rest(): Priority | undefined {
    const again = this.#again;
    this.#again = undefined;
    this.place = this.dueMs === never ? "none" : "delayed";
    return again;
  }
}
