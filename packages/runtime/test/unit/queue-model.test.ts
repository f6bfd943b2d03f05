import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { KeyQueue } from "../../src/queue/key-queue.ts";

/** What a queue has to do, in the plainest way. */
class Model {
  nowMs = 0;
  readonly ready = new Set<string>();
  readonly delayed = new Map<string, number>();
  readonly running = new Map<string, { isDirty: boolean }>();

  add(key: string, afterMs: number): void {
    if (afterMs > 0) {
      const dueMs = this.nowMs + afterMs;
      if (!this.ready.has(key)) this.delayed.set(key, Math.min(dueMs, this.delayed.get(key) ?? dueMs));
      return;
    }
    const current = this.running.get(key);
    if (current !== undefined) {
      current.isDirty = true;
      return;
    }
    this.delayed.delete(key);
    this.ready.add(key);
  }

  pass(ms: number): void {
    this.nowMs += ms;
  }

  promote(): void {
    for (const [key, dueMs] of this.delayed) {
      if (dueMs > this.nowMs) continue;
      this.delayed.delete(key);
      this.add(key, 0);
    }
  }

  done(key: string): void {
    const ended = this.running.get(key);
    this.running.delete(key);
    if (ended?.isDirty === true) {
      this.delayed.delete(key);
      this.ready.add(key);
    }
  }
}

interface Pair {
  readonly queue: KeyQueue;
  readonly model: Model;
}

const keys = fc.constantFrom("a", "b", "one/c", "one/d", "two/c");
const priorities = fc.constantFrom("normal" as const, "low" as const);

type Step =
  | {
      readonly do: "add";
      readonly key: string;
      readonly priority: "normal" | "low";
      readonly afterMs: number;
    }
  | { readonly do: "take" }
  | { readonly do: "done"; readonly key: string }
  | { readonly do: "pass"; readonly ms: number };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant("add" as const),
      key: keys,
      priority: priorities,
      afterMs: fc.constantFrom(0, 0, 5, 50, 5_000),
    }),
    fc.record({ do: fc.constant("take" as const) }),
    fc.record({ do: fc.constant("done" as const), key: keys }),
    // Clock jumps: a blocked event loop or a suspended machine lets hours pass immediately.
    fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(1, 10, 100, 3_600_000) }),
  ),
  { maxLength: 60 },
);

function run({ queue, model }: Pair, step: Step): void {
  switch (step.do) {
    case "add":
      queue.add(step.key, model.nowMs, { priority: step.priority, afterMs: step.afterMs });
      model.add(step.key, step.afterMs);
      return;
    case "take":
      take({ queue, model });
      return;
    case "done":
      queue.done(step.key, model.nowMs);
      model.done(step.key);
      return;
    case "pass":
      model.pass(step.ms);
      return;
    default:
      step satisfies never;
  }
}

function take({ queue, model }: Pair): void {
  const taken = queue.take(model.nowMs);
  model.promote();
  expect(taken === undefined).toBe(model.ready.size === 0);
  if (taken === undefined) return;
  expect({
    isReady: model.ready.has(taken.key),
    isRunning: model.running.has(taken.key),
    hasWaited: taken.waitedMs >= 0,
  }).toEqual({ isReady: true, isRunning: false, hasWaited: true });
  model.ready.delete(taken.key);
  model.running.set(taken.key, { isDirty: false });
}

describe("KeyQueue against its model", () => {
  test("merges, runs each key once at a time, comes back when dirty, keeps appointments", () => {
    fc.assert(
      fc.property(steps, (script) => {
        const pair = { queue: new KeyQueue(), model: new Model() };
        for (const step of script) {
          run(pair, step);
          pair.model.promote();
          const wantMs = Math.min(...pair.model.delayed.values());
          expect(pair.queue.nextDueMs() ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(wantMs);
        }
        // Whatever happened, everything that is owed comes out in the end.
        for (const key of pair.model.running.keys()) run(pair, { do: "done", key });
        pair.model.nowMs += 10_000;
        pair.model.promote();
        for (let left = pair.model.ready.size; left > 0; left -= 1) take(pair);
        expect(pair.queue.take(pair.model.nowMs)).toBeUndefined();
        for (const key of pair.model.running.keys()) run(pair, { do: "done", key });
        expect(pair.queue.size).toBe(0);
        expect(pair.queue.depth).toBe(0);
      }),
      { numRuns: 2_000 },
    );
  });
});

test("a key that is worked on keeps a new appointment beside one that is overdue", () => {
  const queue = new KeyQueue();
  queue.add("c", 0);
  queue.take(0);
  queue.add("c", 0, { afterMs: 50 });
  queue.add("c", 100, { afterMs: 50 });
  expect(queue.take(100)).toBeUndefined();
  expect(queue.nextDueMs()).toBe(150);
  queue.done("c", 101);
  expect(queue.take(101)?.key).toBe("c");
});

describe("KeyQueue order", () => {
  test("takes keys of one priority in the order they came", () => {
    const queue = new KeyQueue();
    for (const key of ["x", "y", "z"]) queue.add(key, 0);
    expect([1, 2, 3].map(() => queue.take(1)?.key)).toEqual(["x", "y", "z"]);
  });

  test.each(["normal", "low"] as const)(
    "[security/80] namespaces take turns in the %s line, however many keys one of them has",
    (priority) => {
      const queue = new KeyQueue();
      for (let at = 0; at < 10_000; at += 1) queue.add(`greedy/${at}`, 0, { priority });
      for (const key of ["calm/a", "calm/b", "other/a", "cluster-wide"]) queue.add(key, 1, { priority });
      const taken = Array.from({ length: 7 }, () => queue.take(2)?.key);
      expect(taken).toEqual([
        "greedy/0",
        "calm/a",
        "other/a",
        "cluster-wide",
        "greedy/1",
        "calm/b",
        "greedy/2",
      ]);
      // One that comes later gets its turn immediately.
      queue.add("late/a", 3, { priority });
      expect([3, 4].map((nowMs) => queue.take(nowMs)?.key)).toContain("late/a");
    },
  );

  test("takes what is normal before what is low, and a second add can raise a key", () => {
    const queue = new KeyQueue();
    for (const key of ["old-1", "old-2", "edited"]) queue.add(key, 0, { priority: "low" });
    queue.add("edited", 1);
    expect(queue.depths).toEqual({ normal: 1, low: 2 });
    expect([1, 2, 3].map(() => queue.take(2)?.key)).toEqual(["edited", "old-1", "old-2"]);
    expect(queue.take(2)).toBeUndefined();
  });

  test("lets low keys have a turn while normal ones keep coming", () => {
    const queue = new KeyQueue();
    queue.add("patient", 0, { priority: "low" });
    const taken: (string | undefined)[] = [];
    for (let turn = 0; turn < 40; turn += 1) {
      queue.add(`busy-${turn}`, turn);
      queue.add(`busy-more-${turn}`, turn);
      taken.push(queue.take(turn)?.key);
    }
    expect(taken.indexOf("patient")).toBe(16);
  });

  test("an add without delay makes an appointment void, and of two appointments the earlier counts", () => {
    const queue = new KeyQueue();
    queue.add("a", 0, { afterMs: 100 });
    queue.add("a", 0, { afterMs: 50 });
    queue.add("a", 0, { afterMs: 200 });
    expect(queue.nextDueMs()).toBe(50);
    queue.add("a", 10);
    expect(queue.take(10)?.key).toBe("a");
    queue.done("a", 11);
    expect(queue.take(1_000)).toBeUndefined();
    expect(queue.size).toBe(0);
  });
});
