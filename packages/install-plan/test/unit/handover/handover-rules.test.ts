import { defineKind, firstDecision } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import type { Predecessor } from "../../../src/handover/replacement.ts";
import { rules } from "../../../src/rules.ts";
import type { Leftover, Seen } from "../../../src/seen.ts";
import { aPlan } from "../../support/plans.ts";
import { aSeen, aView, clear } from "../../support/seen.ts";

const now = new Date("2026-01-01T00:00:00Z");
const before = aPlan("a", { status: { startedAt: "2026-01-01T00:00:00Z", phase: "Installed" } });
const kind = defineKind({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced",
});

function handover(
  predecessor: Partial<Predecessor>,
  { status = {}, replaces = {}, ...more }: Partial<Seen> & { status?: object; replaces?: object } = {},
): Seen {
  const plan = aPlan("p", { spec: { replaces: { plans: [{ name: "a" }], ...replaces } }, status });
  const { replacement } = aSeen(plan);
  const predecessors = [
    { name: "a", uid: "uid-a", plan: before, state: "Releasing", hasLetGo: true, ...predecessor } as const,
  ];
  return aSeen(plan, { preflight: clear, ...more, replacement: { ...replacement, predecessors } });
}

function decide(given: Seen): readonly [rule: string, actions: readonly string[]] {
  const { rule, verdict } = firstDecision(rules, given, now);
  return [rule.name, verdict.actions.map((action) => action.kind)];
}

const announced = { replaces: [{ name: "a", uid: "uid-a", state: "Releasing" }] };
const began = { ...announced, startedAt: "2026-01-01T00:00:00Z", phase: "Applying", stage: "s" };
const finishing = { ...began, phase: "Finishing", stage: "(finishing)" };

describe("a plan that names a predecessor that never existed", () => {
  const sentence =
    "Nothing is taken over from a: spec.replaces.plans names what did not exist when this plan started.";
  const neverThere = { uid: "", state: "Gone" } as const;

  test.each([
    { name: "in the reconcile that finishes it", status: { ...finishing, replaces: [] } },
    {
      name: "in every later reconcile",
      status: { startedAt: began.startedAt, phase: "Installed", finishedAt: began.startedAt },
    },
  ])("says so $name", ({ status }) => {
    const { verdict } = firstDecision(rules, handover(neverThere, { status }), now);
    expect(verdict.status).toMatchObject({
      phase: "Installed",
      message: `Everything is installed and ready. ${sentence}`,
    });
  });
});

describe("a plan that replaces another", () => {
  test.each([
    { name: "announces it before anything else", given: handover({}), want: "predecessorsHold" },
    {
      name: "waits until the other has let go",
      given: handover({ hasLetGo: false }, { status: announced }),
      want: "predecessorsHold",
    },
    { name: "then starts", given: handover({}, { status: announced }), want: "cleared" },
    {
      name: "finishes only when its objects are ready",
      given: handover({}, { status: finishing, members: [aView("c", { state: "InProgress" })] }),
      want: "successorUnready",
    },
    {
      name: "unless it need not wait for them",
      given: handover(
        {},
        {
          status: finishing,
          replaces: { finishWhen: "Applied" },
          members: [aView("c", { state: "InProgress" })],
        },
      ),
      want: "finished",
    },
    {
      name: "waits for no one when the other plan no longer exists",
      given: handover(
        { state: "Gone" },
        { status: finishing, members: [aView("c", { state: "InProgress" })] },
      ),
      want: "finished",
    },
  ])("$name", ({ given, want }) => {
    expect(decide(given)[0]).toBe(want);
  });

  test.each([
    { name: "the soonest of their rechecks", rechecks: [9_000, 4_000, undefined], want: 4_000 },
    { name: "a minute where none requests one", rechecks: [undefined], want: 60_000 },
    { name: "a minute where all request later", rechecks: [120_000], want: 60_000 },
  ])("looks at objects that are not ready again after $name", ({ rechecks, want }) => {
    const members = rechecks.map((recheckAfterMs, at) =>
      aView(`c${at}`, {
        state: "InProgress",
        health: {
          status: "InProgress",
          message: "",
          ...(recheckAfterMs === undefined ? {} : { recheckAfterMs }),
        },
      } as never),
    );
    const { verdict } = firstDecision(rules, handover({}, { status: finishing, members }), now);
    expect(verdict.outcome).toMatchObject({ kind: "waiting", retryAfterMs: want });
  });
});

describe("when a handover fails", () => {
  const members = [aView("c", { state: "Failed" })];
  const pending = [{ name: "a", uid: "uid-a", state: "Pending" }];

  test.each([
    { name: "it is rolled back where that is wanted", onFailure: "Rollback", predecessor: {}, isBack: true },
    { name: "it holds on otherwise", onFailure: "Hold", predecessor: {}, isBack: false },
    {
      name: "it is not rolled back to a plan that no longer exists",
      onFailure: "Rollback",
      predecessor: { state: "Gone", plan: undefined } as unknown as Partial<Predecessor>,
      isBack: false,
    },
    {
      name: "it is not rolled back to a plan that was deleted just now",
      onFailure: "Rollback",
      predecessor: { plan: undefined } as unknown as Partial<Predecessor>,
      isBack: false,
    },
  ])("$name", ({ onFailure, predecessor, isBack }) => {
    const given = handover(predecessor, { status: began, replaces: { onFailure }, members });
    const { status = {} } = firstDecision(rules, given, now).verdict;
    const replaces = "replaces" in status ? status.replaces : undefined;
    expect(JSON.stringify(replaces) === JSON.stringify(pending)).toBe(isBack);
  });
});

describe("what a replaced plan leaves behind", () => {
  const leftover = (more: Partial<Leftover>): Leftover => ({
    kind,
    live: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", namespace: "ns" } },
    cleanup: "Delete",
    ...more,
  });
  const leaving = leftover({}).live;

  test.each([
    { name: "is deleted", given: {}, want: ["delete"] },
    { name: "is released where its plan orphans it", given: { cleanup: "Orphan" }, want: ["release"] },
    {
      name: "is released where it holds something of others",
      given: { protectedBy: "others use it" },
      want: ["warn", "release"],
    },
  ] as const)("$name", ({ given, want }) => {
    expect(decide(handover({}, { status: finishing, leftovers: [leftover(given)] }))).toEqual([
      "leftoversRemain",
      want,
    ]);
  });

  test("is left alone when it is being deleted", () => {
    const live = { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(decide(handover({}, { status: finishing, leftovers: [leftover({ live })] }))[0]).toBe("finished");
  });
});
