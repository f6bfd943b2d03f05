import { customResourceDefinitions } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import type { WakeTrigger } from "../../../src/seen.ts";
import { anObject, installPlanKind, watched, watching } from "../../support/plan-watching.ts";
import { aPlan } from "../../support/plans.ts";

describe("a change of what plans wait for", () => {
  test.each(Object.entries(watched))("%s wakes all that wait for it, and no others", (trigger, kinds) => {
    for (const kind of kinds)
      for (const count of [1, 2, 3, 4]) {
        const { wakeIndex, change } = watching();
        const names = Array.from({ length: count }, (_, index) => `p${index}`);
        for (const name of names) wakeIndex.subscribe({ name, namespace: "ns" }, [trigger as WakeTrigger]);
        for (const each of Object.keys(watched).filter((one) => one !== trigger))
          wakeIndex.subscribe({ name: `for-${each}`, namespace: "ns" }, [each as WakeTrigger]);
        expect(change(kind, anObject(kind)), kind.kind).toEqual(names);
      }
  });

  test("a definition that changes makes discovery look again before plans are woken", () => {
    const { change, invalidated } = watching();
    change(customResourceDefinitions, anObject(customResourceDefinitions));
    expect(invalidated()).toBeGreaterThan(0);
  });
});

describe("a change of another plan", () => {
  const entry = (name: string, state: string): object => ({ name, uid: `uid-${name}`, state });
  test.each([
    {
      name: "its phase: those that it replaces by its spec",
      old: aPlan("x", {
        spec: { replaces: { plans: [{ name: "a" }, { name: "b" }] } },
        status: { phase: "Validating" },
      }),
      now: aPlan("x", {
        spec: { replaces: { plans: [{ name: "a" }, { name: "b" }] } },
        status: { phase: "Applying" },
      }),
      want: ["a", "b"],
    },
    {
      name: "what it replaces by its status: those that it named before, and those that it names now",
      old: aPlan("x", { status: { phase: "Applying", replaces: [entry("a", "Releasing")] } }),
      now: aPlan("x", {
        status: { phase: "Applying", replaces: [entry("a", "Superseded"), entry("b", "Releasing")] },
      }),
      want: ["a", "b"],
    },
    {
      name: "only the state of one that it replaces",
      old: aPlan("x", { status: { phase: "Applying", replaces: [entry("a", "Releasing")] } }),
      now: aPlan("x", { status: { phase: "Applying", replaces: [entry("a", "Pending")] } }),
      want: ["a"],
    },
    {
      name: "who replaces it: that one",
      old: aPlan("x", { status: { phase: "Installed" } }),
      now: aPlan("x", {
        status: { phase: "Installed", replacedBy: { name: "b", uid: "u", state: "InProgress" } },
      }),
      want: ["b"],
    },
    {
      name: "that it no longer hands over: the one that waited",
      old: aPlan("x", {
        status: { phase: "Replacing", replacedBy: { name: "b", uid: "u", state: "InProgress" } },
      }),
      now: aPlan("x", { status: { phase: "Replacing" } }),
      want: ["b"],
    },
    {
      name: "only its message: no one",
      old: aPlan("x", { status: { phase: "Applying", replaces: [entry("a", "Releasing")], message: "one" } }),
      now: aPlan("x", { status: { phase: "Applying", replaces: [entry("a", "Releasing")], message: "two" } }),
      want: [],
    },
  ])("$name", ({ old, now: changed, want }) => {
    expect(watching().change(installPlanKind, old, changed)).toEqual(want);
  });

  test.each([
    { name: "its labels, which selectors go by", change: { metadata: { labels: { a: "b" } } } },
    { name: "its spec", change: { metadata: { generation: 2 } } },
    { name: "its phase", change: { status: { phase: "Installed" } } },
    { name: "who replaces it", change: { status: { replacedBy: { name: "q", uid: "u", state: "Done" } } } },
  ])("$name: wakes those of the namespace that wait for plans, and no others", ({ change }) => {
    const { wakeIndex, change: changed } = watching();
    wakeIndex.subscribe({ name: "near", namespace: "ns" }, ["plans"]);
    wakeIndex.subscribe({ name: "far", namespace: "elsewhere" }, ["plans"]);
    wakeIndex.subscribe({ name: "other", namespace: "ns" }, ["kinds"]);
    const woken = changed(installPlanKind, aPlan("x"), aPlan("x", change));
    expect(woken.filter((name) => name !== "q")).toEqual(["near"]);
  });
});
