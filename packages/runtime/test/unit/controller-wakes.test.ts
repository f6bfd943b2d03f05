import { describe, expect, test } from "vitest";

import { Reenqueuer } from "../../src/controller/reenqueuer.ts";
import { runSignals } from "../../src/controller/run-signals.ts";
import { asLive } from "../../src/object/kube-object.ts";
import { defineMemory, Memories } from "../../src/reconcile/define-memory.ts";
import { silentLog } from "../../src/reconcile/log.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";

describe("a reenqueuer", () => {
  test("enqueues a key until its time is over, and then sets no more timers", async () => {
    const system = new VirtualSystem();
    const enqueued: string[] = [];
    using reenqueuer = new Reenqueuer(system, (key) => enqueued.push(key));
    reenqueuer.keep("ns/a", 1_000);
    await system.advance(10_000);
    expect(enqueued).toEqual(["ns/a", "ns/a", "ns/a", "ns/a"]);
  });

  test("forgets everything when it is disposed of", async () => {
    const system = new VirtualSystem();
    const enqueued: string[] = [];
    const reenqueuer = new Reenqueuer(system, (key) => enqueued.push(key));
    reenqueuer.keep("ns/a", 1_000);
    reenqueuer[Symbol.dispose]();
    await system.advance(10_000);
    expect(enqueued).toEqual([]);
  });
});

describe("signals", () => {
  test("are started again after a failure, and not after the end of leadership", async () => {
    const system = new VirtualSystem();
    const leading = new AbortController();
    const starts: number[] = [];
    const woken: unknown[] = [];
    const running = runSignals(
      async (wake) => {
        starts.push(system.monotonicMs());
        wake({ name: "a" });
        await Promise.resolve();
        throw new Error("the source is gone");
      },
      { wake: (ref) => woken.push(ref), system, log: silentLog },
      leading.signal,
    );
    await system.advance(3_000);
    leading.abort();
    await running;
    expect(starts).toEqual([0, 1_000, 3_000].map((ms) => (starts[0] ?? 0) + ms));
    expect(woken).toHaveLength(3);
  });
});

describe("the memory of an object", () => {
  const attempts = defineMemory("attempts", () => ({ count: 0 }));
  const object = (uid: string) => asLive({ apiVersion: "v1", kind: "Thing", metadata: { name: "a", uid } });

  test("lasts between reconciles and goes with the object", () => {
    const memories = new Memories();
    memories.of(object("1"), attempts).count += 1;
    expect(memories.of(object("1"), attempts).count).toBe(1);
    expect(memories.of(object("2"), attempts).count).toBe(0);
    memories.forget("1");
    expect(memories.of(object("1"), attempts).count).toBe(0);
    memories.forget("1");
    memories.forget("2");
    expect(memories.size).toBe(0);
  });
});
