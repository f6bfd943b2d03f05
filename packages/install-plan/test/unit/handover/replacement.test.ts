import type { InstallPlan } from "@quartermaster/api";
import { describe, expect, test } from "vitest";

import { replacementOf } from "../../../src/handover/replacement.ts";
import { planId } from "../../../src/ownership/owner-labels.ts";
import { aPlan } from "../../support/plans.ts";

const began = { startedAt: "2026-01-01T00:00:00Z" };

function replacing(name: string, wanted: readonly string[], status?: object): InstallPlan {
  return aPlan(name, {
    spec: { replaces: { plans: wanted.map((plan) => ({ name: plan })) } },
    ...(status === undefined ? {} : { status }),
  });
}

function entry(name: string, state: string): object {
  return { name, uid: `uid-${name}`, state };
}

describe("who replaces whom", () => {
  test("a predecessor that never wrote has let go from the start, one that did only when it names its successor", () => {
    const successor = replacing("b", ["a"], { replaces: [entry("a", "Releasing")] });
    const letGo = (status?: object): boolean | undefined =>
      replacementOf(successor, [successor, aPlan("a", status === undefined ? {} : { status })])
        .predecessors[0]?.hasLetGo;
    expect(letGo()).toBe(true);
    expect(letGo(began)).toBe(false);
    expect(letGo({ ...began, replacedBy: { name: "b", uid: "uid-b", state: "InProgress" } })).toBe(true);
    expect(letGo({ ...began, replacedBy: { name: "z", uid: "uid-z", state: "InProgress" } })).toBe(false);
    expect(letGo({ ...began, phase: "Superseded" })).toBe(true);
  });

  test("a successor counts once its status requests release, and not while it only says so in its spec", () => {
    const a = aPlan("a", { status: began });
    const silent = replacing("b", ["a"]);
    const requesting = replacing("b", ["a"], { replaces: [entry("a", "Releasing")] });
    const done = replacing("b", ["a"], { replaces: [entry("a", "Superseded")] });
    expect(replacementOf(a, [a, silent]).successor).toBeUndefined();
    expect(replacementOf(a, [a, requesting]).successor).toEqual({ name: "b", uid: "uid-b", isDone: false });
    expect(replacementOf(a, [a, done]).successor).toEqual({ name: "b", uid: "uid-b", isDone: true });
  });

  test("a successor that was rolled back is none; its objects come back", () => {
    const a = aPlan("a", { status: began });
    const back = replacing("b", ["a"], { ...began, replaces: [entry("a", "Pending")] });
    const { successor, takesOverFrom } = replacementOf(a, [a, back]);
    expect(successor).toBeUndefined();
    expect([...takesOverFrom]).toEqual([planId({ namespace: "ns", name: "b", uid: "uid-b" })]);
  });

  test("a successor that leaves before it has finished is none; its objects come back", () => {
    const a = aPlan("a", {
      status: { ...began, replacedBy: { name: "b", uid: "uid-b", state: "InProgress" } },
    });
    const leaving = aPlan("b", {
      metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" },
      status: { replaces: [entry("a", "Releasing")] },
    });
    const { successor, takesOverFrom } = replacementOf(a, [a, leaving]);
    expect(successor).toBeUndefined();
    expect(takesOverFrom.has(planId({ namespace: "ns", name: "b", uid: "uid-b" }))).toBe(true);
  });

  test("predecessors of a predecessor that never finished are taken over too", () => {
    const a = aPlan("a", { status: began });
    const b = replacing("b", ["a"], { ...began, replaces: [entry("a", "Releasing")] });
    const c = replacing("c", ["b"]);
    expect(replacementOf(c, [a, b, c]).predecessors.map(({ name }) => name)).toEqual(["b", "a"]);
  });

  test("so are those of a predecessor that never began, or has given them back", () => {
    const a = aPlan("a", { status: began });
    const never = replacing("b", ["a"]);
    const rolledBack = replacing("b", ["a"], { ...began, replaces: [entry("a", "Pending")] });
    const c = replacing("c", ["b"]);
    for (const b of [never, rolledBack]) {
      const { predecessors, issues } = replacementOf(c, [a, b, c]);
      expect(predecessors.map(({ name }) => name)).toEqual(["b", "a"]);
      expect(issues).toEqual([]);
    }
  });

  test("a plan that has begun with none has none, a client that matches its selector later", () => {
    const successor = aPlan("b", { spec: { replaces: { selector: "app=shop" } }, status: began });
    const later = aPlan("x", { metadata: { labels: { app: "shop" } }, status: began });
    const { predecessors, late, takesOverFrom } = replacementOf(successor, [successor, later]);
    expect({ predecessors, late, successors: takesOverFrom.size }).toEqual({
      predecessors: [],
      late: ["x"],
      successors: 0,
    });
  });

  test("a plan that comes to replace the one whose selector it matches has not come late", () => {
    const shop = { labels: { app: "shop" } };
    const spec = { replaces: { selector: "app=shop" } };
    const first = aPlan("v1", { spec, metadata: shop, status: began });
    const second = aPlan("v2", { spec, metadata: shop });
    expect(replacementOf(first, [first, second]).late).toEqual([]);
    expect(replacementOf(second, [first, second]).issues).toEqual([]);
  });

  test("the set is fixed once it is announced; those that match later are reported apart", () => {
    const spec = { replaces: { selector: "app=shop" } };
    const successor = aPlan("b", { spec, status: { replaces: [entry("a", "Releasing")] } });
    const [a, late] = ["a", "late"].map((name) =>
      aPlan(name, { metadata: { labels: { app: "shop" } }, status: began }),
    );
    const { predecessors, late: comers } = replacementOf(successor, [
      successor,
      ...[a, late].filter((plan) => plan !== undefined),
    ]);
    expect(predecessors.map(({ name }) => name)).toEqual(["a"]);
    expect(comers).toEqual(["late"]);
  });

  test("another plan under the name of one that no longer exists is not touched", () => {
    const successor = replacing("b", ["a"], {
      replaces: [{ name: "a", uid: "uid-of-old", state: "Releasing" }],
    });
    const other = aPlan("a", { status: began });
    expect(replacementOf(successor, [successor, other]).predecessors).toEqual([
      { name: "a", uid: "uid-of-old", state: "Gone", hasLetGo: true },
    ]);
  });

  test.each([
    { name: "itself", plans: [replacing("b", ["b"])], want: ["ReplaceCycle"] },
    { name: "each other", plans: [replacing("b", ["c"]), replacing("c", ["b"])], want: ["ReplaceCycle"] },
    {
      name: "each other by selectors",
      plans: ["b", "c"].map((name) =>
        aPlan(name, { metadata: { labels: { app: "x" } }, spec: { replaces: { selector: "app=x" } } }),
      ),
      want: ["ReplaceCycle"],
    },
    {
      name: "one whose name an earlier plan had that it replaces",
      plans: [
        replacing("a", ["b"]),
        replacing("b", ["a"], { ...began, replaces: [{ name: "a", uid: "uid-old", state: "Superseded" }] }),
      ],
      want: [],
    },
    {
      name: "one that came too late for another's selector",
      plans: [
        replacing("y", ["x"]),
        aPlan("b", { spec: { replaces: { selector: "app=x" } }, status: { ...began, replaces: [] } }),
        aPlan("x", { metadata: { labels: { app: "x" } } }),
      ],
      want: [],
    },
    {
      name: "what a plan gave back that was rolled back",
      plans: [
        replacing("c", ["a"]),
        replacing("b", ["a"], { ...began, replaces: [entry("a", "Pending")] }),
        aPlan("a", { status: began }),
      ],
      want: [],
    },
    {
      name: "by a selector that is none",
      plans: [aPlan("b", { spec: { replaces: { selector: "app in (a" } } })],
      want: ["InvalidReplaces"],
    },
    {
      name: "the same as a rival",
      plans: [replacing("b", ["a"]), replacing("c", ["a"]), aPlan("a")],
      want: ["ReplaceConflict"],
    },
    {
      name: "one that its own predecessor replaces",
      plans: [replacing("b", ["c", "a"]), replacing("c", ["a"]), aPlan("a")],
      want: [],
    },
    {
      name: "one that a superseded plan once replaced",
      plans: [replacing("b", ["a"]), replacing("c", ["a"], { phase: "Superseded" }), aPlan("a")],
      want: [],
    },
  ])("a plan that replaces $name: $want", ({ plans, want }) => {
    const [first] = plans;
    if (first === undefined) throw new Error("no plan");
    expect(replacementOf(first, plans).issues.map(({ reason }) => reason)).toEqual(want);
  });

  test("the revision is one more than the highest before", () => {
    const before = ["a1", "a2"].map((name, index) =>
      aPlan(name, { status: { ...began, revision: index + 3 } }),
    );
    const successor = replacing("b", ["a1", "a2"]);
    expect(replacementOf(successor, [successor, ...before]).revision).toBe(5);
  });
});
