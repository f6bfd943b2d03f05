import { describe, expect, test } from "vitest";

import type { Client } from "../../src/client/client.ts";
import { ApiError } from "../../src/errors.ts";
import { guardWrites } from "../../src/leader/guard-writes.ts";
import { LeaseElector, type LeaseElectorOptions } from "../../src/leader/lease-elector.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import { configMaps } from "../support/kinds.ts";
import { failure, LeaseStore } from "../support/lease-store.ts";

interface Running {
  readonly elector: LeaseElector;
  /** `start` and `stop` in the order they came. */
  readonly calls: string[];
  readonly slowPaths: () => number;
  stop(): Promise<void>;
}

function run(store: LeaseStore, system: VirtualSystem, options: Partial<LeaseElectorOptions> = {}): Running {
  const calls: string[] = [];
  let slowPaths = 0;
  const elector = new LeaseElector({
    client: store.client(),
    system,
    lease: { namespace: "n", name: "l" },
    identity: "a",
    observer: { leaseSlowPath: () => (slowPaths += 1) },
    ...options,
  });
  const stopping = new AbortController();
  const running = elector.run(
    stopping.signal,
    () => calls.push("start"),
    () => calls.push("stop"),
  );
  return {
    elector,
    calls,
    slowPaths: () => slowPaths,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

describe("a candidate", () => {
  test("[runtime/RT-09] creates the lease, renews it every two seconds and keeps what others wrote into it", async () => {
    const system = new VirtualSystem();
    const store = new LeaseStore();
    const a = run(store, system);
    await system.advance(0);
    expect(a.calls).toEqual(["start"]);
    expect(store.lease?.spec).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:00.000000Z",
      leaseTransitions: 0,
    });
    if (store.lease !== undefined)
      store.lease = { ...store.lease, metadata: { ...store.lease.metadata, labels: { kept: "yes" } } };
    await system.advance(60_000);
    expect(store.writes).toBeGreaterThanOrEqual(25);
    expect(store.writes).toBeLessThanOrEqual(32);
    expect(a.slowPaths()).toBe(0);
    expect(a.elector.mayWrite()).toBe(true);
    await a.stop();
  });

  test("[runtime/RT-09] gives the lease back when it stops, and the next one is there within 3 s", async () => {
    const system = new VirtualSystem();
    const store = new LeaseStore();
    const a = run(store, system);
    await system.advance(0);
    const b = run(store, system, { identity: "b" });
    await system.advance(10_000);
    expect(b.calls).toEqual([]);
    await a.stop();
    expect(a.calls).toEqual(["start", "stop"]);
    expect(a.elector.mayWrite()).toBe(false);
    expect(store.lease?.spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    await system.advance(3_000);
    expect(b.calls).toEqual(["start"]);
    expect(store.lease?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    await b.stop();
  });

  test("[runtime/RT-09] takes a dead holder's lease after its duration, whatever the wall clocks say", async () => {
    const system = new VirtualSystem();
    const store = new LeaseStore();
    const dead = run(store, system, { identity: "dead" });
    await system.advance(0);
    const b = run(store, system, { identity: "b" });
    await system.advance(1_000);
    await dead.stop();
    if (store.lease !== undefined) {
      store.lease = {
        ...store.lease,
        metadata: { ...store.lease.metadata, resourceVersion: "x" },
        spec: { holderIdentity: "dead", leaseDurationSeconds: 15 },
      };
    }
    system.jumpWall(3_600_000);
    await system.advance(14_000);
    expect(b.calls).toEqual([]);
    await system.advance(6_000);
    expect(b.calls).toEqual(["start"]);
    await b.stop();
  });

  test("[runtime/RT-10] stops at the renew deadline when the API server cannot be reached", async () => {
    const system = new VirtualSystem();
    const store = new LeaseStore();
    const a = run(store, system);
    await system.advance(1_000);
    store.isUnreachable = true;
    await system.advance(8_900);
    expect(a.elector.mayWrite()).toBe(true);
    await system.advance(3_500);
    expect(a.calls).toEqual(["start", "stop"]);
    expect(a.elector.mayWrite()).toBe(false);
    store.isUnreachable = false;
    await system.advance(3_000);
    expect(a.calls).toEqual(["start", "stop", "start"]);
    expect(store.lease?.spec?.leaseTransitions, "no one else held it meanwhile").toBe(0);
    await a.stop();
  });

  test("[runtime/RT-10] may not write after a blocked loop until the lease is held again", async () => {
    const system = new VirtualSystem();
    const store = new LeaseStore();
    const a = run(store, system);
    const sent: string[] = [];
    const state = { create: async () => await Promise.resolve(sent.push("write")) } as unknown as Client;
    const guarded = guardWrites(state, a.elector);
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", namespace: "n" } };
    await system.advance(5_000);
    await guarded.create(configMaps, object);
    expect(sent).toHaveLength(1);
    system.block(20_000);
    // Nothing has run yet: no timer told the elector that its time is over. The clock did.
    await expect(guarded.create(configMaps, object)).rejects.toMatchObject({
      class: "aborted",
      mayHaveActed: false,
    });
    expect(sent).toHaveLength(1);
    await system.advance(0);
    expect(a.calls.slice(0, 2)).toEqual(["start", "stop"]);
    await system.advance(3_000);
    expect(a.calls).toEqual(["start", "stop", "start"]);
    await guarded.create(configMaps, object);
    expect(sent).toHaveLength(2);
    await a.stop();
    await expect(guarded.create(configMaps, object)).rejects.toBeInstanceOf(ApiError);
  });

  test("[runtime/RT-10] makes nothing of a renewal whose answer comes after the deadline", async () => {
    const system = new VirtualSystem();
    const store = new LeaseStore();
    let isSlow = false;
    const { find, create, replace } = store.client();
    const a = run(store, system, {
      client: {
        find,
        create,
        replace: async (kind, object, options) => {
          const response = await replace(kind, object, options);
          if (isSlow) await system.sleep(12_000);
          return response;
        },
      },
    });
    await system.advance(1_000);
    isSlow = true;
    await system.advance(11_900);
    expect(a.calls).toEqual(["start", "stop"]);
    await system.advance(3_000);
    expect(a.elector.mayWrite()).toBe(false);
    isSlow = false;
    await system.advance(16_000);
    expect(a.calls).toEqual(["start", "stop", "start"]);
    await a.stop();
  });

  test("continues after a lost answer, and looks at the lease before it does", async () => {
    const system = new VirtualSystem();
    const store = new LeaseStore();
    let losses = 1;
    const { find, create, replace } = store.client();
    const a = run(store, system, {
      client: {
        find,
        create,
        replace: async (kind, object, options) => {
          const response = await replace(kind, object, options);
          losses -= 1;
          if (losses === 0) throw failure("timeout", true);
          return response;
        },
      },
    });
    await system.advance(10_000);
    expect(a.calls).toEqual(["start"]);
    expect(a.slowPaths()).toBe(1);
    await a.stop();
  });

  test("stops immediately when another client took the lease by hand", async () => {
    const system = new VirtualSystem();
    const store = new LeaseStore();
    const a = run(store, system);
    await system.advance(0);
    if (store.lease !== undefined) {
      store.lease = {
        ...store.lease,
        metadata: { ...store.lease.metadata, resourceVersion: "x" },
        spec: { ...store.lease.spec, holderIdentity: "thief" },
      };
    }
    await system.advance(2_500);
    expect(a.calls).toEqual(["start", "stop"]);
    await a.stop();
    expect(store.lease?.spec?.holderIdentity, "what is not ours is not given back").toBe("thief");
  });

  test("waits a whole lease when a foreign lease vanishes: its holder may still act", async () => {
    const system = new VirtualSystem();
    const store = new LeaseStore();
    store.create({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "l" },
      spec: { holderIdentity: "other", leaseDurationSeconds: 15 },
    });
    const a = run(store, system);
    await system.advance(1_000);
    store.lease = undefined;
    await system.advance(14_000);
    expect(a.calls).toEqual([]);
    await system.advance(5_000);
    expect(a.calls).toEqual(["start"]);
    await a.stop();
  });

  test("refuses durations that cannot be kept", () => {
    expect(() => run(new LeaseStore(), new VirtualSystem(), { renewDeadlineMs: 15_000 })).toThrow(RangeError);
  });
});
