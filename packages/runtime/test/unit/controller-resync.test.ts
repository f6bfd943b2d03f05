import { describe, expect, test } from "vitest";

import { inPortions, runSlowResync } from "../../src/controller/run-slow-resync.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";

const hourMs = 3_600_000;
const keys = Array.from({ length: 250 }, (_, at) => `n/o-${at}`);

describe("the slow resync", () => {
  test("looks at each object once in about ten hours, never at all of them together", async () => {
    const system = new VirtualSystem();
    const stopping = new AbortController();
    const observations: { readonly key: string; readonly atMs: number }[] = [];
    const running = runSlowResync(
      {
        system,
        everyMs: 10 * hourMs,
        keys: () => keys,
        enqueue: (key) => observations.push({ key, atMs: system.monotonicMs() }),
      },
      stopping.signal,
    );
    await system.advance(7.9 * hourMs);
    expect(observations).toEqual([]);
    await system.advance(101 * hourMs);
    const perKey = keys.map((key) => observations.filter((observation) => observation.key === key).length);
    expect(Math.min(...perKey)).toBeGreaterThanOrEqual(9);
    expect(Math.max(...perKey)).toBeLessThanOrEqual(12);
    const atOnce = Map.groupBy(observations, ({ atMs }) => atMs);
    expect(Math.max(...[...atOnce.values()].map(({ length }) => length))).toBeLessThanOrEqual(3);

    stopping.abort();
    await running;
    expect(system.pendingTimers).toBe(0);
  });

  test.each([
    { name: "nothing", given: 0, want: [0, 0, 0, 0] },
    { name: "fewer than parts", given: 2, want: [1, 0, 1, 0] },
    { name: "many", given: 10, want: [3, 2, 3, 2] },
  ])("divides $name", ({ given, want }) => {
    const items = Array.from({ length: given }, (_, at) => at);
    const parts = inPortions(items, 4);
    expect(parts.map(({ length }) => length)).toEqual(want);
    expect(parts.flat()).toEqual(items);
  });
});
