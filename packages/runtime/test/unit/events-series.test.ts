import { describe, expect, test } from "vitest";

import { eventFor, type Occurrence } from "../../src/events/event-object.ts";
import { SeriesBook, type SeriesWrite } from "../../src/events/series-book.ts";

const minuteMs = 60_000;
const subject = { apiVersion: "v1", kind: "Thing", name: "a", namespace: "n", uid: "u" };
const occurrence: Occurrence = { subject, type: "Normal", reason: "Happened", action: "Look", note: "again" };
const reporter = { controller: "test", instance: "test-1" };

function note(book: SeriesBook, atMs: number, what: Occurrence = occurrence): SeriesWrite | undefined {
  const make = (): SeriesWrite["event"] => eventFor(what, reporter, { suffix: `s${atMs}`, wallMs: atMs });
  return book.note(what, { make, wallMs: atMs, monotonicMs: atMs });
}

test("[security/85] the note of an event cannot steer a terminal", () => {
  const event = eventFor({ ...occurrence, note: "a\u001b[2J\r\nb" }, reporter, { suffix: "s", wallMs: 0 });
  expect(event.note).toBe("a [2J b");
});

describe("SeriesBook", () => {
  test("writes the first, makes a series of the second, and only counts the rest", () => {
    const book = new SeriesBook();
    const writes = Array.from({ length: 1_000 }, (_, at) => note(book, at)).filter(
      (write) => write !== undefined,
    );
    expect(writes.map(({ isNew }) => isNew)).toEqual([true, false]);
    expect(writes[1]?.series?.()).toEqual({ count: 1_000, lastObservedTime: "1970-01-01T00:00:00.999000Z" });
  });

  test("closes a series after six quiet minutes with its last count; the next one is a new event", () => {
    const book = new SeriesBook();
    for (const atMs of [0, 1, 2]) note(book, atMs);
    expect(book.sweep(5 * minuteMs)).toEqual([]);
    expect(book.sweep(7 * minuteMs).map(({ series }) => series?.().count)).toEqual([3]);
    expect(note(book, 8 * minuteMs)?.isNew).toBe(true);
  });

  test("writes nothing about a series whose count is known: of one occurrence, and of two that were written", () => {
    const book = new SeriesBook();
    note(book, 0);
    expect(book.sweep(7 * minuteMs)).toEqual([]);
    note(book, 8 * minuteMs);
    expect(note(book, 8 * minuteMs + 1)?.series?.().count).toBe(2);
    expect(book.sweep(15 * minuteMs)).toEqual([]);
    expect(book.close()).toEqual([]);
  });

  test("refreshes a series that continues for more than thirty minutes", () => {
    const book = new SeriesBook();
    const written: number[] = [];
    for (let minute = 0; minute <= 70; minute += 1) {
      note(book, minute * minuteMs);
      written.push(...book.sweep(minute * minuteMs).map(({ series }) => series?.().count ?? 0));
    }
    expect(written).toHaveLength(2);
  });

  test("tells events apart by object, reason, action, type and note", () => {
    const book = new SeriesBook();
    const others: readonly Occurrence[] = [
      { ...occurrence, subject: { ...subject, uid: "v" } },
      { ...occurrence, reason: "Other" },
      { ...occurrence, action: "Other" },
      { ...occurrence, type: "Warning" },
      { ...occurrence, note: "other" },
    ];
    expect([occurrence, ...others].map((one) => note(book, 1, one)?.isNew)).toEqual(Array(6).fill(true));
  });
});

describe("eventFor", () => {
  test("an event of a cluster-scoped object goes into default, and a long note is cut", () => {
    const { namespace: _none, ...clusterWide } = subject;
    const event = eventFor({ ...occurrence, subject: clusterWide, note: "x".repeat(2_000) }, reporter, {
      suffix: "s",
      wallMs: 0,
    });
    expect(event.metadata).toEqual({ name: "a.s", namespace: "default" });
    expect(event.note.endsWith("x…")).toBe(true);
    expect(Buffer.byteLength(event.note)).toBe(1_024);
  });
});
