import type { InstallPlan } from "@quartermaster/api";
import { cpuMs } from "@quartermaster/testkit";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { PlanGraph } from "../../../src/handover/plan-graph.ts";
import { replacementOf } from "../../../src/handover/replacement.ts";
import { aPlan } from "../../support/plans.ts";
import { replacementByPaths } from "../../support/replacement-by-paths.ts";

const names = ["a", "b", "c", "d", "e"] as const;
const anyName = fc.constantFrom(...names, "gone");
const anyEntry = fc.record({
  name: anyName,
  isMeant: fc.boolean(),
  state: fc.constantFrom("Pending", "Releasing", "Superseded", "Gone"),
});
const anyStatus = fc.record(
  {
    startedAt: fc.constant("2026-01-01T00:00:00Z"),
    finishedAt: fc.constant("2026-01-01T00:01:00Z"),
    phase: fc.constantFrom("Superseded", "Applying"),
    entries: fc.uniqueArray(anyEntry, { maxLength: 3, selector: ({ name }) => name }),
  },
  { requiredKeys: [] },
);
const anySpec = fc.record(
  {
    plans: fc.uniqueArray(anyName, { maxLength: 3 }),
    selector: fc.constantFrom("app=x", "app=y", "app", "!app", "app!=x", "tier in (one,two)"),
  },
  { requiredKeys: [] },
);
const anyPlan = fc.record({
  labels: fc.record(
    { app: fc.constantFrom("x", "y"), tier: fc.constantFrom("one", "two") },
    { requiredKeys: [] },
  ),
  replaces: fc.option(anySpec, { nil: undefined }),
  status: fc.option(anyStatus, { nil: undefined }),
  isLeaving: fc.boolean(),
});
type Drawn = typeof anyPlan extends fc.Arbitrary<infer P> ? P : never;

function planOf(name: string, { labels, replaces, status, isLeaving }: Drawn): InstallPlan {
  const { entries, ...reported } = status ?? {};
  return aPlan(name, {
    metadata: { labels, ...(isLeaving ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}) },
    spec:
      replaces === undefined
        ? {}
        : { replaces: { ...replaces, plans: (replaces.plans ?? []).map((each) => ({ name: each })) } },
    ...(status === undefined ? {} : { status: { ...reported, ...statusEntries(entries) } }),
  });
}

function statusEntries(entries: NonNullable<Drawn["status"]>["entries"]): object {
  if (entries === undefined) return {};
  return {
    replaces: entries.map(({ name, isMeant, state }) => ({
      name,
      uid: isMeant ? `uid-${name}` : `uid-old-${name}`,
      state,
    })),
  };
}

/** Messages about circles name the first few plans only. */
function comparable({
  reason,
  field,
  message,
}: {
  reason: string;
  field?: string | undefined;
  message: string;
}): unknown {
  return reason === "ReplaceCycle" ? { reason, field } : { reason, field, message };
}

describe("the replacement graph", () => {
  test("says of small sets of plans what walking every path says, also when it is kept over changes", () => {
    const anyPlans = fc.tuple(...names.map(() => anyPlan));
    fc.assert(
      fc.property(anyPlans, anyPlans, (first, second) => {
        const kept = new PlanGraph();
        for (const drawn of [first, second]) {
          const plans = drawn.map((each, at) => planOf(names[at] ?? "", each));
          kept.sync(plans);
          for (const plan of plans) {
            const want = replacementByPaths(plan, plans);
            const { predecessors, issues, late } = replacementOf(plan, kept);
            expect(predecessors.map(({ name }) => name)).toEqual(want.names);
            expect(issues.map(comparable)).toEqual(want.issues.map(comparable));
            expect(late).toEqual(want.late);
          }
          kept.sync(plans.slice(1));
        }
      }),
      { numRuns: 400 },
    );
  });

  const count = 1_000;
  const shapes = {
    "select each other": (at: number) => ({
      metadata: { labels: { app: "x" } },
      spec: { replaces: { selector: "app=x" } },
      name: `p${at}`,
    }),
    "select each other, each by a selector of its own": (at: number) => ({
      metadata: { labels: { app: "x" } },
      spec: { replaces: { selector: `app=x,!no-${at}` } },
      name: `p${at}`,
    }),
    "replace the one before": (at: number) => ({
      spec: { replaces: { plans: [{ name: `p${at - 1}` }] } },
      name: `p${at}`,
    }),
    "select the one before": (at: number) => ({
      metadata: { labels: { at: `at-${at}` } },
      spec: { replaces: { selector: `at=at-${at - 1}` } },
      name: `p${at}`,
    }),
    "replace the same few": (at: number) => ({
      spec: { replaces: { plans: Array.from({ length: 40 }, (_, of) => ({ name: `p${of}` })) } },
      name: `p${at}`,
    }),
  } as const;

  test.each(Object.entries(shapes))(
    "[security/90] 1,000 plans that %s cost less than 50 ms per reconcile",
    (_, shape) => {
      const plans = Array.from({ length: count }, (__, at) => {
        const { name, ...parts } = shape(at);
        return aPlan(name, parts);
      });
      const graph = new PlanGraph(plans);
      for (const at of [0, 30, count - 1]) {
        const { name, ...parts } = shape(at);
        const changed = plans.with(at, aPlan(name, parts));
        const plan = changed[count - 1 - at];
        if (plan === undefined) throw new Error("no plan");
        const tookMs = cpuMs(() => {
          // Both are changes of one plan.
          graph.sync(plans);
          graph.sync(changed);
          replacementOf(plan, graph);
        });
        expect(tookMs).toBeLessThan(50);
      }
    },
  );

  test("a plan that would take over from more plans than its status has room for is invalid", () => {
    const shop = { metadata: { labels: { app: "shop" } } };
    const successor = aPlan("successor", { spec: { replaces: { selector: "app=shop" } } });
    const reasonsWith = (size: number): readonly string[] => {
      const before = Array.from({ length: size }, (_, at) => aPlan(`p${at}`, shop));
      const { predecessors, issues } = replacementOf(successor, [successor, ...before]);
      return [String(predecessors.length), ...issues.map(({ reason }) => reason)];
    };
    expect(reasonsWith(50)).toEqual(["50"]);
    expect(reasonsWith(51)).toEqual(["0", "InvalidReplaces"]);
  });
});
