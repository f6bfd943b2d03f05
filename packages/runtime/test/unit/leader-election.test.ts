import { describe, expect, test } from "vitest";

import {
  actsUntilMs,
  type ElectionSettings,
  isSuperseded,
  mayAct,
  nextStep,
  noteHeld,
  noteRead,
  notSeen,
} from "../../src/leader/election.ts";
import type { Lease } from "../../src/leader/lease.ts";

const settings: ElectionSettings = { identity: "me", leaseMs: 15_000, renewDeadlineMs: 10_000 };

function aLease(holderIdentity: string, spec: object = {}, uid = "u"): Lease {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "l", namespace: "ns", uid },
    spec: { holderIdentity, leaseDurationSeconds: 15, ...spec },
  };
}

describe("a holder", () => {
  const held = noteHeld(aLease("me"), 1_000);

  test.each([
    { nowMs: 1_000, want: true },
    { nowMs: 10_999, want: true },
    { nowMs: 11_000, want: false },
    { nowMs: 20_000, want: false },
  ])("may act at $nowMs: $want", ({ nowMs, want }) => {
    expect(mayAct(held, settings, nowMs)).toBe(want);
    expect(actsUntilMs(held, settings)).toBe(11_000);
  });

  test.each([
    { name: "its own lease", lease: aLease("me"), want: false },
    { name: "that of another", lease: aLease("you"), want: true },
    { name: "one that was given back", lease: aLease(""), want: true },
    { name: "none", lease: undefined, want: false },
  ])("is superseded when it sees $name: $want", ({ lease, want }) => {
    expect(isSuperseded(noteRead(held, lease, 2_000), settings)).toBe(want);
  });
});

describe("a candidate that sees the lease of another", () => {
  const seen = noteRead(notSeen, aLease("you"), 1_000);

  test("waits for the duration that the holder states, from when it saw the lease", () => {
    expect(nextStep(seen, settings, 15_999)).toEqual({ kind: "wait", untilMs: 16_000 });
    expect(nextStep(seen, settings, 16_000).kind).toBe("take");
    const long = noteRead(notSeen, aLease("you", { leaseDurationSeconds: 60 }), 1_000);
    expect(nextStep(long, settings, 16_000)).toEqual({ kind: "wait", untilMs: 61_000 });
  });

  test("waits from the beginning when the lease was renewed, and not when it was only read again", () => {
    const again = noteRead(seen, aLease("you"), 9_000);
    expect(nextStep(again, settings, 9_000)).toEqual({ kind: "wait", untilMs: 16_000 });
    const renewed = noteRead(seen, aLease("you", { renewTime: "2026-01-01T00:00:00.000000Z" }), 9_000);
    expect(nextStep(renewed, settings, 9_000)).toEqual({ kind: "wait", untilMs: 24_000 });
  });

  test("takes a lease that was given back immediately", () => {
    expect(nextStep(noteRead(seen, aLease(""), 2_000), settings, 2_000).kind).toBe("take");
  });

  test("waits a whole lease when it was deleted, or made again: its holder may still act", () => {
    expect(nextStep(noteRead(seen, undefined, 2_000), settings, 16_999)).toEqual({
      kind: "wait",
      untilMs: 17_000,
    });
    expect(nextStep(noteRead(seen, undefined, 2_000), settings, 17_000).kind).toBe("create");
    const other = noteRead(seen, aLease("", {}, "other"), 2_000);
    expect(nextStep(other, settings, 2_000)).toEqual({ kind: "wait", untilMs: 17_000 });
  });
});
