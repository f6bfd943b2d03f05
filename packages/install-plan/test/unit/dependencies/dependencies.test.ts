import type { InstallPlan } from "@quartermaster/api";
import { describe, expect, test } from "vitest";

import {
  dependenciesOf,
  dependsOn,
  dependsOnAtAll,
  type PlanLookup,
} from "../../../src/dependencies/dependencies.ts";
import { aPlan } from "../../support/plans.ts";

interface Given {
  readonly on?: readonly string[];
  readonly selector?: string;
  readonly phase?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly replacedBy?: string;
  readonly deleted?: boolean;
  readonly observed?: number;
}

const at = "2026-01-01T00:00:00Z";

function plan(name: string, { labels, deleted, ...given }: Given = {}): InstallPlan {
  return aPlan(name, {
    metadata: {
      generation: 1,
      ...(labels && { labels }),
      ...(deleted === true && { deletionTimestamp: at }),
    },
    spec: specOf(given),
    status: statusOf(given),
  });
}

function specOf({ on, selector }: Given): object {
  if (on === undefined && selector === undefined) return {};
  const plans = on?.map((each) => ({ name: each }));
  return { dependsOn: { ...(plans && { plans }), ...(selector !== undefined && { selector }) } };
}

function statusOf({ phase, replacedBy, observed }: Given): object {
  return {
    ...(phase !== undefined && { startedAt: at, phase }),
    ...(observed !== undefined && { observedGeneration: observed }),
    ...(replacedBy !== undefined && { replacedBy: { name: replacedBy, uid: replacedBy, state: "Done" } }),
  };
}

function lookup(plans: readonly InstallPlan[]): PlanLookup {
  const byName = new Map(plans.map((each) => [each.metadata.name, each]));
  return { get: (name) => byName.get(name), all: () => plans };
}

const ready = { phase: "Installed" };

describe("[install-plan/135] a plan waits for the plans that it depends on", () => {
  const rows: readonly {
    readonly name: string;
    readonly own: Given;
    readonly others: readonly InstallPlan[];
    readonly want: readonly string[] | undefined;
  }[] = [
    { name: "none is named", own: {}, others: [], want: undefined },
    { name: "it has started", own: { on: ["a"], phase: "Applying" }, others: [], want: undefined },
    { name: "one is ready", own: { on: ["a"] }, others: [plan("a", ready)], want: [] },
    { name: "one does not exist", own: { on: ["a"] }, others: [], want: ["a does not exist"] },
    { name: "one is new", own: { on: ["a"] }, others: [plan("a")], want: ["a is new"] },
    {
      name: "one is degraded",
      own: { on: ["a"] },
      others: [plan("a", { phase: "Degraded" })],
      want: ["a is Degraded"],
    },
    {
      name: "one is paused",
      own: { on: ["a"] },
      others: [plan("a", { phase: "Paused" })],
      want: ["a is Paused"],
    },
    {
      name: "one is being deleted",
      own: { on: ["a"] },
      others: [plan("a", { ...ready, deleted: true })],
      want: ["a is being deleted"],
    },
    {
      name: "the status of one is of an earlier generation",
      own: { on: ["a"] },
      others: [plan("a", { ...ready, observed: 0 })],
      want: ["a is Installed"],
    },
    {
      name: "two of three are not ready",
      own: { on: ["a", "b", "c"] },
      others: [plan("a", ready), plan("b")],
      want: ["b is new", "c does not exist"],
    },
    {
      name: "one was replaced by a plan that is ready",
      own: { on: ["a-1"] },
      others: [plan("a-1", { phase: "Superseded", replacedBy: "a-2" }), plan("a-2", ready)],
      want: [],
    },
    {
      name: "one was replaced by a plan that is not",
      own: { on: ["a-1"] },
      others: [plan("a-1", { phase: "Superseded", replacedBy: "a-2" }), plan("a-2", { phase: "Applying" })],
      want: ["a-2, which replaced a-1, is Applying"],
    },
    {
      name: "one was replaced by a plan that is deleted",
      own: { on: ["a-1"] },
      others: [plan("a-1", { phase: "Superseded", replacedBy: "a-2" })],
      want: ["a-1 does not exist"],
    },
    {
      name: "a line of successors that leads back",
      own: { on: ["a"] },
      others: [
        plan("a", { phase: "Superseded", replacedBy: "b" }),
        plan("b", { phase: "Superseded", replacedBy: "a" }),
      ],
      want: ["a is Superseded"],
    },
    {
      name: "a selector matches nothing",
      own: { selector: "tier=base" },
      others: [plan("a", ready)],
      want: ["no plan matches the selector"],
    },
    {
      name: "a selector matches two",
      own: { selector: "tier=base" },
      others: [plan("a", { ...ready, labels: { tier: "base" } }), plan("b", { labels: { tier: "base" } })],
      want: ["b is new"],
    },
    {
      name: "a selector matches itself, too",
      own: { selector: "tier=base", labels: { tier: "base" } },
      others: [plan("a", { ...ready, labels: { tier: "base" } })],
      want: [],
    },
    {
      name: "a selector matches a superseded one",
      own: { selector: "tier=base" },
      others: [plan("a", { phase: "Superseded", labels: { tier: "base" } })],
      want: ["no plan matches the selector"],
    },
  ];
  test.each(rows)("$name", ({ own, others, want }) => {
    const it = plan("it", own);
    expect(dependenciesOf(it, lookup([it, ...others]))?.waitingFor).toEqual(want);
  });
});

describe("[install-plan/136] cycles are named", () => {
  test.each([
    { name: "with itself", plans: [plan("it", { on: ["it"] })], want: "it → it" },
    { name: "of two", plans: [plan("it", { on: ["a"] }), plan("a", { on: ["it"] })], want: "it → a → it" },
    {
      name: "of three",
      plans: [plan("it", { on: ["a"] }), plan("a", { on: ["b"] }), plan("b", { on: ["it"] })],
      want: "it → a → b → it",
    },
    {
      name: "over a selector",
      plans: [plan("it", { on: ["a"], labels: { tier: "x" } }), plan("a", { selector: "tier=x" })],
      want: "it → a → it",
    },
    {
      name: "that it only leads to",
      plans: [plan("it", { on: ["a"] }), plan("a", { on: ["b"] }), plan("b", { on: ["a"] })],
      want: undefined,
    },
    {
      name: "whose other plan has started",
      plans: [
        plan("it", { on: ["a"] }),
        plan("a", { on: ["b"], phase: "Installed" }),
        plan("b", { on: ["it"] }),
      ],
      want: undefined,
    },
  ])("$name", ({ plans, want }) => {
    const [it] = plans;
    if (it === undefined) throw new Error("no plan");
    const [issue] = dependenciesOf(it, lookup(plans))?.issues ?? [];
    expect(issue?.reason).toBe(want === undefined ? undefined : "DependencyCycle");
    expect(issue?.message.includes(`in a cycle: ${want}.`)).toBe(want === undefined ? undefined : true);
  });

  test("a selector that cannot be read is an issue of its field", () => {
    const it = plan("it", { selector: "a in (" });
    expect(dependenciesOf(it, lookup([it]))?.issues).toEqual([
      {
        reason: "InvalidDependsOn",
        field: "spec.dependsOn.selector",
        message: "must be a non-empty label selector",
      },
    ]);
  });

  test("the search is bounded where every plan selects every other", () => {
    const plans = Array.from({ length: 2_000 }, (_, index) =>
      plan(`p${index}`, { selector: "tier=x", labels: { tier: "x" } }),
    );
    let read = 0;
    const [it] = plans;
    if (it === undefined) throw new Error("no plan");
    const counted: PlanLookup = {
      get: lookup(plans).get,
      all: () => {
        read += 1;
        return plans;
      },
    };
    dependenciesOf(plan("q", { selector: "tier=x" }), counted);
    expect(read).toBeLessThan(50);
  });
});

describe("who goes first in a deletion", () => {
  const a = plan("a", ready);
  const b = plan("b", { ...ready, on: ["a"] });
  const c = plan("c", { ...ready, on: ["b"] });
  const all = lookup([a, b, c]);
  test.each([
    { from: b, to: a, direct: true, atAll: true },
    { from: c, to: a, direct: false, atAll: true },
    { from: a, to: c, direct: false, atAll: false },
    { from: a, to: a, direct: false, atAll: false },
  ])(
    "$from.metadata.name depends on $to.metadata.name: $direct, at all: $atAll",
    ({ from, to, direct, atAll }) => {
      expect([dependsOn(from, to, all), dependsOnAtAll(from, to, all)]).toEqual([direct, atAll]);
    },
  );

  test("the successor of a named plan counts as named", () => {
    const [first, second] = [plan("a-1", { phase: "Superseded", replacedBy: "a-2" }), plan("a-2", ready)];
    const user = plan("user", { ...ready, on: ["a-1"] });
    expect(dependsOn(user, second, lookup([first, second, user]))).toBe(true);
  });
});
