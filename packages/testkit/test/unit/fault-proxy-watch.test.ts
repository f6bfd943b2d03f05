import { describe, expect, test } from "vitest";

import { toFrames } from "../../src/fault-proxy/watch-transform.ts";
import {
  closeAfter,
  delayEvents,
  expireAfter,
  goSilentAfter,
  hideWindow,
  holdUntil,
  joinFrames,
  repeatEvents,
  splitEvery,
} from "../../src/index.ts";
import type { WatchTransform } from "../../src/index.ts";

async function* stream(...parts: readonly string[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield await Promise.resolve(Buffer.from(part));
}

async function collect(transform: WatchTransform, ...frames: readonly string[]): Promise<readonly string[]> {
  const out: string[] = [];
  for await (const part of transform(stream(...frames), AbortSignal.timeout(1_000)))
    out.push(part.toString("latin1"));
  return out;
}

describe("a stream of events on its way through the proxy", () => {
  test("is put into frames wherever its chunks were cut", async () => {
    const frames: string[] = [];
    for await (const frame of toFrames(stream('{"a', '":1}\n{"b":2}\n', '{"c":3}')))
      frames.push(frame.toString());
    expect(frames).toEqual(['{"a":1}\n', '{"b":2}\n', '{"c":3}']);
  });

  test("comes late by so much each, not by the sum of it", async () => {
    const frames = Array.from({ length: 50 }, (_, at) => `${at}\n`);
    const startMs = performance.now();
    const out: string[] = [];
    for await (const part of delayEvents(100)(stream(...frames), AbortSignal.timeout(10_000)))
      out.push(part.toString());
    expect(out).toEqual(frames);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(99);
    expect(performance.now() - startMs).toBeLessThan(2_500);
  });

  test.each<{ readonly name: string; readonly transform: WatchTransform; readonly want: readonly string[] }>([
    { name: "comes late but whole", transform: delayEvents(1), want: ["1\n", "2\n", "3\n"] },
    { name: "comes twice", transform: repeatEvents(), want: ["1\n", "1\n", "2\n", "2\n", "3\n", "3\n"] },
    {
      name: "repeats its past",
      transform: repeatEvents(2),
      want: ["1\n", "1\n", "2\n", "2\n", "1\n", "2\n", "3\n", "3\n"],
    },
    {
      name: "hides a window and ends",
      transform: hideWindow(
        (f) => f === "2\n",
        (f) => f === "3\n",
      ),
      want: ["1\n"],
    },
    { name: "falls silent", transform: goSilentAfter(2), want: ["1\n", "2\n"] },
    { name: "is cut into bytes", transform: splitEvery(1), want: ["1", "\n", "2", "\n", "3", "\n"] },
    { name: "comes two at a time", transform: joinFrames(2), want: ["1\n2\n", "3\n"] },
    { name: "waits for its gate", transform: holdUntil(Promise.resolve()), want: ["1\n", "2\n", "3\n"] },
    { name: "ends on its own", transform: closeAfter(1000), want: ["1\n", "2\n", "3\n"] },
  ])("$name", async ({ transform, want }) => {
    expect(await collect(transform, "1\n", "2\n", "3\n")).toEqual(want);
  });

  test("tells of an expired version inside a good answer", async () => {
    const [first, error] = await collect(expireAfter(1), "1\n", "2\n");
    expect(first).toBe("1\n");
    expect(JSON.parse(error ?? "")).toMatchObject({
      type: "ERROR",
      object: { code: 410, reason: "Expired" },
    });
  });
});
