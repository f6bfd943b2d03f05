import { type EventObject, type EventSeries, microTime, type Occurrence } from "./event-object.ts";

/** An event, or the news of its series, that should be written. */
export interface SeriesWrite {
  readonly event: EventObject;
  readonly isNew: boolean;
  /** The count at the moment of writing; undefined while the event happened once. */
  readonly series: (() => EventSeries) | undefined;
}

interface Entry {
  readonly event: EventObject;
  count: number;
  lastWallMs: number;
  lastMs: number;
  writtenMs: number;
  writtenCount: number;
}

/** A series that was not seen for so long is over; the next equal event is a new one. */
const endsAfterMs = 6 * 60_000;

/** A running series is written again after this long. */
const refreshAfterMs = 30 * 60_000;

/** Series in progress; beyond it the oldest are no longer merged. */
const limit = 4_096;

/** When something happened, and how to make the event of it. */
export interface Noting {
  readonly make: () => EventObject;
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Merges equal events: the first is written, the second makes it a series, the rest are only counted for a while. */
export class SeriesBook {
  readonly #entries = new Map<string, Entry>();

  /** The write for this occurrence, if any. */
  note(occurrence: Occurrence, { make, wallMs, monotonicMs }: Noting): SeriesWrite | undefined {
    const key = identityOf(occurrence);
    const entry = this.#entries.get(key);
    if (entry === undefined || monotonicMs - entry.lastMs > endsAfterMs) {
      return this.#begin(key, { event: make(), wallMs, monotonicMs });
    }
    entry.count += 1;
    entry.lastMs = monotonicMs;
    entry.lastWallMs = wallMs;
    return entry.count === 2 ? updateOf(entry, monotonicMs) : undefined;
  }

  /** The series that ended, with their last count, and those that are due for a refresh. */
  sweep(monotonicMs: number): readonly SeriesWrite[] {
    const writes: SeriesWrite[] = [];
    for (const [key, entry] of this.#entries) {
      const isFinished = monotonicMs - entry.lastMs > endsAfterMs;
      const isDue = isFinished || monotonicMs - entry.writtenMs > refreshAfterMs;
      if (isDue && entry.count > entry.writtenCount) writes.push(updateOf(entry, monotonicMs));
      if (isFinished) this.#entries.delete(key);
    }
    return writes;
  }

  /** The last counts of all series; the book is empty afterwards. */
  close(): readonly SeriesWrite[] {
    const open = [...this.#entries.values()].filter(({ count, writtenCount }) => count > writtenCount);
    this.#entries.clear();
    return open.map((entry) => updateOf(entry, entry.lastMs));
  }

  #begin(key: string, { event, wallMs, monotonicMs }: Beginning): SeriesWrite {
    this.#entries.delete(key);
    const times = { lastWallMs: wallMs, lastMs: monotonicMs, writtenMs: monotonicMs };
    this.#entries.set(key, { event, count: 1, writtenCount: 1, ...times });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > limit && oldest !== undefined) this.#entries.delete(oldest);
    return { event, isNew: true, series: undefined };
  }
}

interface Beginning {
  readonly event: EventObject;
  readonly wallMs: number;
  readonly monotonicMs: number;
}

function updateOf(entry: Entry, monotonicMs: number): SeriesWrite {
  const series = (): EventSeries => {
    Object.assign(entry, { writtenCount: entry.count });
    return { count: entry.count, lastObservedTime: microTime(entry.lastWallMs) };
  };
  Object.assign(entry, { writtenMs: monotonicMs });
  return { event: entry.event, isNew: false, series };
}

function identityOf({ subject, type, reason, action, note }: Occurrence): string {
  const { apiVersion, kind, namespace, name, uid } = subject;
  return JSON.stringify([apiVersion, kind, namespace, name, uid, type, reason, action, note]);
}
