import { describe, expect, test } from "vitest";

import type { CallOptions, Client } from "../../src/client/client.ts";
import { guardWrites } from "../../src/leader/guard-writes.ts";
import { Deadlines, fenceClient, ReconcileDeadlineError } from "../../src/reconcile/deadlines.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import { type ConfigMap, configMaps } from "../support/kinds.ts";

const object: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "ns" } };

/** A server that notes with which options it is called. */
function notingServer(): { readonly client: Client; readonly calls: CallOptions[] } {
  const calls: CallOptions[] = [];
  const noted = async (_kind: unknown, _object: unknown, options: CallOptions): Promise<ConfigMap> => {
    calls.push(options);
    return await Promise.resolve(object);
  };
  return { client: { create: noted, get: noted } as unknown as Client, calls };
}

describe("a client that ends with its reconcile", () => {
  test("sends nothing afterwards, even for code that ignores its signal", async () => {
    const { client, calls } = notingServer();
    const outer = new AbortController().signal;
    const scope = new Deadlines({ system: new VirtualSystem(), limitMs: 1_000 }).begin(outer);
    const kept = fenceClient(client, { scope });
    await scope.orBrokenOff(kept.create(configMaps, object));
    scope[Symbol.dispose]();
    await expect(kept.create(configMaps, object)).rejects.toThrow("the reconcile is over");
    await expect(kept.get(configMaps, object.metadata)).rejects.toThrow("the reconcile is over");
    expect(calls).toHaveLength(1);
    expect(calls[0]?.signal?.aborted).toBe(true);
  });
});

describe("the time limit of a controller's reconciles", () => {
  const never = async (): Promise<never> => await new Promise(() => undefined);

  test("each has the whole of it, whenever it began; what is over is left in peace", async () => {
    const system = new VirtualSystem();
    using deadlines = new Deadlines({ system, limitMs: 1_000 });
    const { signal: term } = new AbortController();
    const quick = deadlines.begin(term);
    const first = deadlines.begin(term);
    const ended: string[] = [];
    first.orBrokenOff(never()).catch(() => ended.push("first"));
    await system.advance(600);
    expect(await quick.orBrokenOff(Promise.resolve("done"))).toBe("done");
    quick[Symbol.dispose]();
    const second = deadlines.begin(term);
    const failure = second.orBrokenOff(never()).catch((error: unknown) => {
      ended.push("second");
      return error;
    });
    await system.advance(400);
    expect(ended).toEqual(["first"]);
    await system.advance(599);
    expect(ended).toEqual(["first"]);
    await system.advance(1);
    expect(ended).toEqual(["first", "second"]);
    expect(await failure).toBeInstanceOf(ReconcileDeadlineError);
    expect(second.signal.aborted).toBe(true);
  });

  test("the end of a term breaks off its reconciles, and no others", async () => {
    using deadlines = new Deadlines({ system: new VirtualSystem(), limitMs: 1_000 });
    const [before, now] = [new AbortController(), new AbortController()];
    const old = deadlines.begin(before.signal);
    const current = deadlines.begin(now.signal);
    const failure = old.orBrokenOff(never()).catch((error: unknown) => error);
    before.abort("the lease is lost");
    expect(await failure).toBe("the lease is lost");
    expect(() => {
      old.throwIfOver();
    }).toThrow("the lease is lost");
    expect(() => deadlines.begin(before.signal)).toThrow("the lease is lost");
    current.throwIfOver();
    expect(current.signal.aborted).toBe(false);
  });

  test("one timer for all, none while nothing has run for a while, none after the end", async () => {
    const system = new VirtualSystem();
    using deadlines = new Deadlines({ system, limitMs: 1_000 });
    const { signal: term } = new AbortController();
    for (let count = 0; count < 100; count += 1) deadlines.begin(term)[Symbol.dispose]();
    expect(system.pendingTimers).toBe(1);
    await system.advance(1_000);
    expect(system.pendingTimers).toBe(0);
    deadlines.begin(term)[Symbol.dispose]();
    deadlines[Symbol.dispose]();
    expect(system.pendingTimers).toBe(0);
  });
});

describe("a client whose writes need the lease", () => {
  test.each([
    { name: "sends within the time that is left", budgetMs: 500, timeoutMs: undefined, want: 500 },
    { name: "keeps a shorter limit of the caller", budgetMs: 500, timeoutMs: 100, want: 100 },
    { name: "shortens a longer limit of the caller", budgetMs: 500, timeoutMs: 9_000, want: 500 },
    { name: "has a limit of its own", budgetMs: 99_000, timeoutMs: undefined, want: 30_000 },
  ])("$name", async ({ budgetMs, timeoutMs, want }) => {
    const { client, calls } = notingServer();
    const guarded = guardWrites(client, { writeBudgetMs: () => budgetMs });
    await guarded.create(configMaps, object, timeoutMs === undefined ? {} : { timeoutMs });
    expect(calls.map((options) => options.timeoutMs)).toEqual([want]);
  });

  test.each([0, -1])("sends nothing when %i ms are left, and reads on", async (budgetMs) => {
    const { client, calls } = notingServer();
    const guarded = guardWrites(client, { writeBudgetMs: () => budgetMs });
    await expect(guarded.create(configMaps, object)).rejects.toMatchObject({ mayHaveActed: false });
    expect(calls).toEqual([]);
    await guarded.get(configMaps, object.metadata);
    expect(calls).toHaveLength(1);
  });
});
