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

  test("a delay beyond 24.8 days does not fire at once", async () => {
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
  /** `began` says what begins in each turn of the event loop; a turn takes a millisecond. */
  const begun = (began: (turn: number, work: UrgentWork) => void) => {
    const system = new VirtualSystem();
    const seen = { turns: 0, isOver: false };
    const work = new UrgentWork({
      monotonicMs: () => system.monotonicMs(),
      setTimer: (delayMs, callback) => system.setTimer(delayMs, callback),
      turn: async () => {
        await system.sleep(1);
        seen.turns += 1;
        began(seen.turns, work);
      },
    });
    void work.goesFirst().then(() => (seen.isOver = true));
    return { system, seen };
  };

  test("where there is none, one turn is enough", async () => {
    const { system, seen } = begun(() => undefined);
    await system.advance(1);
    expect(seen).toEqual({ turns: 1, isOver: true });
  });

  test("that begins and ends within a turn is given another turn, until none comes", async () => {
    const { system, seen } = begun((turn, work) => {
      if (turn <= 3) work.begin()[Symbol.dispose]();
    });
    await system.advance(3);
    expect(seen).toEqual({ turns: 3, isOver: false });
    await system.advance(1);
    expect(seen).toEqual({ turns: 4, isOver: true });
  });

  test("that lasts is waited for, all of it", async () => {
    const running: Disposable[] = [];
    const { system, seen } = begun((turn, work) => {
      if (turn === 1) running.push(work.begin(), work.begin());
    });
    await system.advance(5);
    running[0]?.[Symbol.dispose]();
    running[0]?.[Symbol.dispose](); // it ends once
    await system.advance(5);
    expect(seen).toEqual({ turns: 1, isOver: false });
    running[1]?.[Symbol.dispose]();
    await system.advance(1);
    expect(seen).toEqual({ turns: 2, isOver: true });
    expect(system.pendingTimers).toBe(0);
  });

  test("that does not end, or comes again and again, holds nobody up for more than 20 ms", async () => {
    const endless = begun((turn, work) => {
      if (turn === 1) work.begin();
    });
    await endless.system.advance(20);
    expect(endless.seen).toEqual({ turns: 1, isOver: true });
    const steady = begun((_turn, work) => {
      work.begin()[Symbol.dispose]();
    });
    await steady.system.advance(19);
    expect(steady.seen.isOver).toBe(false);
    await steady.system.advance(1);
    expect(steady.seen).toEqual({ turns: 20, isOver: true });
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

  test("lets work go on that sleeps again and yields", async () => {
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
