import { describe, expect, test } from "vitest";

import { WorkQueue } from "../../src/queue/work-queue.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";

const open = new AbortController().signal;

describe("WorkQueue", () => {
  test("[runtime/RT-16] a key added 1,000 times while it is worked on runs once more", async () => {
    const system = new VirtualSystem();
    const queue = new WorkQueue({ system });
    queue.add("a");
    expect(await queue.take(open)).toBe("a");
    for (let time = 0; time < 1_000; time += 1) queue.add("a");
    queue.done("a");
    expect(await queue.take(open)).toBe("a");
    queue.done("a");
    expect(queue.depth).toBe(0);
    expect(queue.size).toBe(0);
  });

  test("[runtime/RT-15] delays double with jitter up to the limit and begin again after success", () => {
    const system = new VirtualSystem();
    const queue = new WorkQueue({ system, retry: { firstMs: 5, longestMs: 1_000 } });
    const delays = Array.from({ length: 12 }, () => queue.retry("a"));
    delays.forEach((delayMs, attempt) => {
      const baseMs = Math.min(5 * 2 ** attempt, 1_000);
      expect(delayMs).toBeGreaterThanOrEqual(baseMs / 2);
      expect(delayMs).toBeLessThanOrEqual(baseMs);
    });
    expect(new Set(delays.slice(8)).size).toBe(4);
    queue.forget("a");
    expect(queue.retry("a")).toBeLessThanOrEqual(5);
  });

  test("a worker that stops as it is handed a key does not take another out of the line", async () => {
    const queue = new WorkQueue({ system: new VirtualSystem() });
    const stopping = new AbortController();
    const first = queue.take(stopping.signal);
    const second = queue.take(open);
    queue.add("a");
    stopping.abort();
    queue.add("b");
    expect(await Promise.all([first, second])).toEqual(["a", "b"]);
  });

  test("does not come back before the server wants it", () => {
    const queue = new WorkQueue({ system: new VirtualSystem() });
    expect(queue.retry("a", 7_000)).toBe(7_000);
  });

  test("wakes a waiting worker when a delayed key falls due, and not before", async () => {
    const system = new VirtualSystem();
    const queue = new WorkQueue({ system });
    const taken: (string | undefined)[] = [];
    const taking = queue.take(open).then((key) => taken.push(key));
    queue.add("later", { afterMs: 30_000 });
    queue.add("sooner", { afterMs: 10_000 });
    await system.advance(9_999);
    expect(taken).toEqual([]);
    await system.advance(1);
    await taking;
    expect(taken).toEqual(["sooner"]);
  });

  test("a key that is due finds a worker that was busy until then", async () => {
    const system = new VirtualSystem();
    const queue = new WorkQueue({ system });
    queue.add("first");
    queue.add("second", { afterMs: 10 });
    await queue.take(open);
    await system.advance(100);
    queue.done("first");
    expect(await queue.take(open)).toBe("second");
  });

  test("a worker that gives up gets nothing, and nothing is lost by it", async () => {
    const queue = new WorkQueue({ system: new VirtualSystem() });
    const giving = new AbortController();
    const waiting = queue.take(giving.signal);
    giving.abort();
    expect(await waiting).toBeUndefined();
    queue.add("a");
    expect(await queue.take(giving.signal)).toBeUndefined();
    expect(await queue.take(open)).toBe("a");
  });

  test("tells how deep it is, how long keys waited and how long work took", async () => {
    const system = new VirtualSystem();
    const seen: string[] = [];
    const queue = new WorkQueue({
      system,
      observer: {
        queueAdded: () => seen.push("added"),
        queueLatency: (ms) => seen.push(`waited ${ms}`),
        workDuration: (ms) => seen.push(`took ${ms}`),
        queueRetried: () => seen.push("retried"),
      },
    });
    queue.add("a");
    queue.add("a");
    await system.advance(7);
    await queue.take(open);
    await system.advance(5);
    queue.retry("a");
    queue.done("a");
    expect(seen).toEqual(["added", "waited 7", "retried", "took 5"]);
  });

  test("[security/80] 10,000 keys of one tenant leave the time of another within twice the usual", async () => {
    const workMs = 15;
    const latencyMs = async (greedy: number): Promise<number> => {
      const system = new VirtualSystem();
      const queue = new WorkQueue({ system });
      const ended = new Map<string, () => void>();
      const stopping = new AbortController();
      const worker = async (): Promise<void> => {
        for (let key = await queue.take(stopping.signal); key !== undefined;) {
          await system.sleep(workMs);
          queue.done(key);
          ended.get(key)?.();
          key = await queue.take(stopping.signal);
        }
      };
      const workers = [worker(), worker()];
      for (let at = 0; at < greedy; at += 1) queue.add(`greedy/o-${at}`);
      let [longestMs, edits] = [0, 0];
      for (let edit = 0; edit < 40; edit += 1) {
        await system.advance(edit % 17);
        const startMs = system.monotonicMs();
        ended.set("calm/o", () => {
          edits += 1;
          longestMs = Math.max(longestMs, system.monotonicMs() - startMs);
        });
        queue.add("calm/o");
        await system.advance(10 * workMs);
      }
      expect([edits, queue.depth > 1_000]).toEqual([40, greedy > 0]);
      stopping.abort();
      await system.advance(workMs);
      await Promise.all(workers);
      return longestMs;
    };
    const usualMs = await latencyMs(0);
    expect(usualMs).toBe(workMs);
    expect(await latencyMs(10_000)).toBeLessThanOrEqual(2 * usualMs);
  });
});
