import { describe, expect, test } from "vitest";

import { mayAct, nextStep, noteHeld, noteRead, notSeen } from "../../src/leader/election.ts";
import { LeaseElector } from "../../src/leader/lease-elector.ts";
import { createdLease, type Lease, releasedLease, renewedLease, takenLease } from "../../src/leader/lease.ts";
import type { System } from "../../src/system/system.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import { LeaseStore } from "../support/lease-store.ts";

const settings = { identity: "me", leaseMs: 15_000, renewDeadlineMs: 10_000 };
const ref = { name: "l", namespace: "ns" };

describe("how long a lease says that it lasts", () => {
  test.each([
    { leaseMs: 1_000, want: 1 },
    { leaseMs: 1_001, want: 2 },
    { leaseMs: 1_500, want: 2 },
    { leaseMs: 15_000, want: 15 },
    { leaseMs: 15_999, want: 16 },
  ])("$leaseMs ms are $want s: never less than its holder counts on", ({ leaseMs, want }) => {
    const writer = { identity: "me", leaseMs, wallMs: 0 };
    const created = createdLease(ref, writer);
    for (const lease of [created, takenLease(created, writer), renewedLease(created, writer)])
      expect(lease.spec?.leaseDurationSeconds).toBe(want);
    expect(releasedLease(created, writer).spec).toMatchObject({
      holderIdentity: "",
      leaseDurationSeconds: 1,
    });
  });
});

describe("the moment at which a lease changes hands", () => {
  const theirs = (seconds?: number): Lease => ({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { ...ref, uid: "u" },
    spec: { holderIdentity: "you", ...(seconds === undefined ? {} : { leaseDurationSeconds: seconds }) },
  });
  test.each([
    { name: "its stated duration, in seconds", given: theirs(20), untilMs: 21_000 },
    { name: "the usual one where it states none", given: theirs(), untilMs: 16_000 },
    { name: "the usual one where it states nonsense", given: theirs(0), untilMs: 16_000 },
  ])("is $name after it was seen", ({ given, untilMs }) => {
    const election = noteRead(notSeen, given, 1_000);
    expect(nextStep(election, settings, untilMs - 1)).toEqual({ kind: "wait", untilMs });
    expect(nextStep(election, settings, untilMs)).toEqual({ kind: "take", lease: given });
  });

  test("a holder stops before anybody else may begin, however late its renewal was seen", () => {
    const held = noteHeld({ ...theirs(15), spec: { holderIdentity: "me", leaseDurationSeconds: 15 } }, 1_000);
    expect([mayAct(held, settings, 10_999), mayAct(held, settings, 11_000)]).toEqual([true, false]);
    const other = { ...settings, identity: "you" };
    const seen = noteRead(notSeen, held.seen?.lease, 1_000);
    expect(nextStep(seen, other, 15_999)).toMatchObject({ kind: "wait" });
  });
});

describe("a candidate that stops", () => {
  test.each([
    { name: "gives its own lease back", holder: "a", want: "" },
    { name: "leaves the lease of one that took it over meanwhile", holder: "b", want: "b" },
    { name: "leaves a lease that was given back already", holder: "", want: "" },
  ])("$name", async ({ holder, want }) => {
    const system = new VirtualSystem();
    const store = new LeaseStore();
    const elector = new LeaseElector({ client: store.client(), system, lease: ref, identity: "a" });
    const stopping = new AbortController();
    const running = elector.run(
      stopping.signal,
      () => undefined,
      () => undefined,
    );
    await system.advance(0);
    expect(elector.mayWrite()).toBe(true);
    if (store.lease !== undefined)
      store.lease = {
        ...store.lease,
        metadata: { ...store.lease.metadata, resourceVersion: "another" },
        spec: { ...store.lease.spec, holderIdentity: holder, leaseDurationSeconds: 15 },
      };
    stopping.abort();
    await running;
    expect(store.lease?.spec?.holderIdentity).toBe(want);
    expect(store.lease?.spec?.leaseDurationSeconds).toBe(holder === "a" ? 1 : 15);
  });
});

describe("clocks of two candidates that differ", () => {
  test.each([-30, -5, 5, 30])("by %i minutes change nothing about who leads", async (minutes) => {
    const system = new VirtualSystem();
    const store = new LeaseStore();
    const electors = [
      new LeaseElector({ client: store.client(), system, lease: ref, identity: "a" }),
      new LeaseElector({
        client: store.client(),
        system: withWallClock(system, minutes * 60_000),
        lease: ref,
        identity: "b",
      }),
    ];
    const stopping = new AbortController();
    const running = electors.map(
      async (each) =>
        await each.run(
          stopping.signal,
          () => undefined,
          () => undefined,
        ),
    );
    const leading = (): number => electors.filter((each) => each.mayWrite()).length;
    for (let second = 0; second < 60; second += 1) {
      await system.advance(1_000);
      expect(leading()).toBe(1);
      expect(store.lease?.spec?.leaseTransitions).toBe(0);
    }
    stopping.abort();
    await Promise.all(running);
  });
});

/** The same timers with another wall clock. */
function withWallClock(system: VirtualSystem, aheadMs: number): System {
  return {
    env: system.env,
    yieldToOthers: async () => {
      await system.yieldToOthers();
    },
    beginUrgent: () => system.beginUrgent(),
    wallMs: () => system.wallMs() + aheadMs,
    monotonicMs: () => system.monotonicMs(),
    random: () => system.random(),
    uuid: () => system.uuid(),
    sleep: async (ms: number, signal?: AbortSignal) => await system.sleep(ms, signal),
    setTimer: (ms: number, work: () => void) => system.setTimer(ms, work),
  };
}
