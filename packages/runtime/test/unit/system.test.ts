import { describe, expect, test } from "vitest";

import { realSystem } from "../../src/system/real-system.ts";
import { UrgentWork } from "../../src/system/urgent-work.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";

describe("the real system", () => {
  const system = realSystem();

  test("sleep rejects with the reason of the signal", async () => {
    const controller = new AbortController();
    const slept = system.sleep(3_600_000, controller.signal);
    controller.abort(new Error("enough"));
    await expect(slept).rejects.toThrow("enough");
    await expect(system.sleep(1, controller.signal)).rejects.toThrow("enough");
  });

  test("a delay beyond 24.8 days does not fire immediately", async () => {
    let fired = false;
    using timer = system.setTimer(30 * 86_400_000, () => {
      fired = true;
    });
    await system.sleep(5);
    expect(fired).toBe(false);
    timer.cancel();
  });

  test("monotonic time goes forward", async () => {
    const before = system.monotonicMs();
    await system.yieldToOthers();
    expect(system.monotonicMs()).toBeGreaterThan(before);
  });
});

describe("urgent work", () => {
  /** Another client yields, and a turn of the event loop takes a millisecond. `atMs` says when it continues. */
  const begun = () => {
    const system = new VirtualSystem();
    const work = new UrgentWork({
      monotonicMs: () => system.monotonicMs(),
      setTimer: (delayMs, callback) => system.setTimer(delayMs, callback),
      sleep: async (delayMs) => {
        await system.sleep(delayMs);
      },
      turn: async () => {
        await system.sleep(1);
      },
    });
    const seen: { atMs?: number } = {};
    void work.goesFirst().then(() => (seen.atMs = system.monotonicMs()));
    const review = (atMs: number, forMs = 0): void => {
      system.setTimer(atMs, () => {
        const running = work.begin();
        if (forMs === 0) running[Symbol.dispose]();
        else system.setTimer(forMs, () => running[Symbol.dispose]());
      });
    };
    return { system, work, seen, review };
  };

  test.for([
    { name: "none: after one turn", reviews: [], goesOnAt: 1 },
    { name: "one in the turn: after 2 ms without any", reviews: [[0.5]], goesOnAt: 3 },
    { name: "others soon after it: likewise", reviews: [[0.5], [2], [4]], goesOnAt: 7 },
    { name: "one that comes too late does not count", reviews: [[0.5], [4]], goesOnAt: 3 },
    { name: "one that lasts: after its end", reviews: [[0.5, 6]], goesOnAt: 8.5 },
    {
      name: "two that last: after the end of both",
      reviews: [
        [0.5, 6],
        [0.5, 9],
      ],
      goesOnAt: 11.5,
    },
    { name: "one that does not end: after 20 ms", reviews: [[0.5, 1_000]], goesOnAt: 22 },
    {
      name: "they never stop: after 20 ms",
      reviews: Array.from({ length: 40 }, (_, at) => [at + 0.5]),
      goesOnAt: 21,
    },
  ])("$name", async ({ reviews, goesOnAt }) => {
    const { system, seen, review } = begun();
    for (const [atMs = 0, forMs] of reviews) review(atMs, forMs);
    await system.advance(60);
    expect(seen.atMs).toBe(goesOnAt);
  });

  test("ends once, however often it is ended", async () => {
    const { system, work, seen } = begun();
    const [one, other] = [work.begin(), work.begin()];
    one[Symbol.dispose]();
    one[Symbol.dispose]();
    await system.advance(10);
    expect(seen.atMs).toBeUndefined();
    other[Symbol.dispose]();
    await system.advance(10);
    expect(seen.atMs).toBe(12);
    expect(system.pendingTimers).toBe(0);
  });
});

describe("the virtual system", () => {
  test("fires timers in order of time, then of setting, with time at each one's moment", async () => {
    const system = new VirtualSystem();
    const fired: string[] = [];
    const note = (name: string) => () => {
      fired.push(`${name}@${system.monotonicMs()}`);
    };
    system.setTimer(20, note("late"));
    system.setTimer(10, note("first"));
    system.setTimer(10, note("second"));
    system.setTimer(10, note("cancelled")).cancel();
    await system.advance(15);
    expect(fired).toEqual(["first@10", "second@10"]);
    await system.advance(5);
    expect(fired.at(-1)).toBe("late@20");
    expect(system.pendingTimers).toBe(0);
  });

  test("lets work continue that sleeps again and yields", async () => {
    const system = new VirtualSystem();
    let rounds = 0;
    const work = (async () => {
      for (; rounds < 5; rounds += 1) {
        await system.sleep(1_000);
        await system.yieldToOthers();
      }
    })();
    await system.advance(5_000);
    await work;
    expect(rounds).toBe(5);
  });

  test("the same seed gives the same numbers and ids", () => {
    const draw = (seed: number): readonly unknown[] => {
      const system = new VirtualSystem({ seed });
      return [system.random(), system.random(), system.uuid()];
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    expect(draw(7)[2]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
  });

  test("a blocked event loop moves time without firing; a jump moves only the wall clock", async () => {
    const system = new VirtualSystem({ startMs: 0 });
    let fired = false;
    system.setTimer(10, () => {
      fired = true;
    });
    system.block(100);
    expect(fired).toBe(false);
    system.jumpWall(-50);
    expect([system.monotonicMs(), system.wallMs()]).toEqual([100, 50]);
    await system.advance(0);
    expect(fired).toBe(true);
  });
});
