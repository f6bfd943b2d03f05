import { firstDecision } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { dueWrites } from "../../../src/apply/due-writes.ts";
import { rules } from "../../../src/rules.ts";
import type { MemberView, Seen } from "../../../src/seen.ts";
import { aPlan } from "../../support/plans.ts";
import { aSeen, aView } from "../../support/seen.ts";

const now = new Date("2026-01-01T00:00:00Z");
const began = { startedAt: "2026-01-01T00:00:00Z", stage: "s", attempt: 1, phase: "Applying" };
const noKind = { reason: "WaitingForKind", message: "no kind" };
const rejected = {
  action: "apply",
  kind: "rejected",
  reason: "Rejected",
  message: "no",
  count: 1,
  notBeforeMs: 500,
  triedAtMs: 0,
} as const;

/** An object that is to be created. */
function aNew(
  name: string,
  {
    of = "ConfigMap",
    stageIndex = 0,
    ...more
  }: Partial<MemberView> & { of?: string; stageIndex?: number } = {},
): MemberView {
  const { live: _live, ...view } = aView(name);
  const identity = { ...view.member.identity, kind: of };
  const member = { ...view.member, identity, stageIndex };
  return { ...view, state: "Waiting", ownership: { kind: "absent" }, ...more, member };
}

function applying(
  more: Partial<Seen>,
  { spec = {}, status = {} }: { spec?: object; status?: object } = {},
): Seen {
  return aSeen(aPlan("p", { spec, status: { ...began, ...status } }), more);
}

describe("which writes of a stage are due", () => {
  const stages = [
    { name: "s", resources: [] },
    { name: "t", resources: [] },
  ];
  const wide = { stages: [{ name: "s", resources: [], concurrency: 4 }] };
  const leaving = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", deletionTimestamp: "2026-01-01T00:00:00Z" },
  };
  const rows = [
    { name: "in the author's order", members: [aNew("a"), aNew("b")], spec: {}, want: ["a", "b"] },
    {
      name: "namespaces and CRDs first",
      members: [aNew("a"), aNew("n", { of: "Namespace" }), aNew("d", { of: "CustomResourceDefinition" })],
      spec: {},
      want: ["n", "d", "a"],
    },
    {
      name: "none of a later stage",
      members: [aNew("a"), aNew("b", { stageIndex: 1 })],
      spec: { stages },
      want: ["a"],
    },
    {
      name: "one by one, none after one that is blocked",
      members: [aNew("a"), aNew("b", { blockedBy: noKind }), aNew("c")],
      spec: {},
      want: ["a"],
    },
    {
      name: "side by side, those that are not blocked",
      members: [aNew("a"), aNew("b", { blockedBy: noKind }), aNew("c")],
      spec: wide,
      want: ["a", "c"],
    },
    {
      name: "not what is still being deleted",
      members: [aNew("a", { ownership: { kind: "inherited" }, live: leaving })],
      spec: wide,
      want: [],
    },
    { name: "not what was refused", members: [aNew("a", { failure: rejected })], spec: wide, want: [] },
    {
      name: "not before a passing failure may be tried again",
      members: [aNew("a", { failure: { ...rejected, kind: "transient" } })],
      spec: wide,
      want: [],
    },
    { name: "nothing that is as applied", members: [aView("a")], spec: {}, want: [] },
  ];

  test.each(rows)("$name", ({ members, spec, want }) => {
    const { due } = dueWrites(applying({ members }, { spec }), 0);
    expect(due.map(({ member }) => member.identity.name)).toEqual(want);
  });
});

describe("a stage", () => {
  const waitsFor = (wait: string): object => ({
    stages: [{ name: "s", resources: [], wait, timeoutSeconds: 10 }],
  });
  const members = [aView("c", { state: "InProgress" })];
  const phaseOf = (given: Seen): unknown => firstDecision(rules, given, now).verdict.status;

  test.each([
    { name: "waits for its objects", wait: "Ready", elapsedMs: 10_000, want: "Applying" },
    { name: "fails after its time", wait: "Ready", elapsedMs: 10_001, want: "Failed" },
    { name: "that does not wait is passed", wait: "Applied", elapsedMs: 10_001, want: "Degraded" },
  ])("$name", ({ wait, elapsedMs, want }) => {
    const given = applying({ members, stageElapsedMs: elapsedMs }, { spec: waitsFor(wait) });
    expect(phaseOf(given)).toMatchObject({ phase: want });
  });
});

describe("after a refused write", () => {
  const members = [aView("c", { failure: rejected, state: "Failed" })];
  const rows = [
    {
      name: "the failure is reported first",
      status: {},
      retryInMs: 0,
      want: { phase: "Failed", attempt: 1 },
    },
    {
      name: "the next attempt waits for its time",
      status: { phase: "Failed" },
      retryInMs: 1,
      want: { phase: "Failed", attempt: 1 },
    },
    {
      name: "then it begins",
      status: { phase: "Failed" },
      retryInMs: 0,
      want: { phase: "Applying", attempt: 2 },
    },
    {
      name: "the last attempt is not followed by another",
      status: { phase: "Failed", attempt: 3 },
      retryInMs: 0,
      want: { phase: "Failed", attempt: 3 },
    },
    {
      name: "the last but one is",
      status: { phase: "Failed", attempt: 2 },
      retryInMs: 0,
      want: { phase: "Applying", attempt: 3 },
    },
  ];

  test.each(rows)("$name", ({ status, retryInMs, want }) => {
    const given = applying({ members, retryInMs }, { spec: { retry: { maxAttempts: 3 } }, status });
    expect(firstDecision(rules, given, now).verdict.status).toMatchObject(want);
  });
});
