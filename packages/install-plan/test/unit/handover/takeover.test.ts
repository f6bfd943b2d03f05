import type { InstallPlan } from "@quartermaster/api";
import type { Context } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { PlanGraph } from "../../../src/handover/plan-graph.ts";
import { authorizedReplacement } from "../../../src/handover/takeover.ts";
import { aPlan } from "../../support/plans.ts";

const began = { startedAt: "2026-01-01T00:00:00Z" };

/** A server where each user may delete the plans that are listed; `*` stands for all. */
function serverWhere(allowed: Readonly<Record<string, readonly string[]>>): {
  readonly ctx: Context;
  readonly requested: string[];
} {
  const requested: string[] = [];
  const client = {
    raw: async ({ body }: { readonly body: Query }) => {
      const { user, resourceAttributes } = body.spec;
      const { name = "*" } = resourceAttributes;
      requested.push(`${user}/${name}`);
      const names = allowed[user] ?? [];
      return await Promise.resolve({ status: { allowed: names.includes("*") || names.includes(name) } });
    },
  };
  return { ctx: { client, signal: AbortSignal.any([]) } as unknown as Context, requested };
}

interface Query {
  readonly spec: { readonly user: string; readonly resourceAttributes: { readonly name?: string } };
}

/** `eve/p` stands for plan p, made by eve. */
function madeBy(who: string, spec: object = {}, status?: object): InstallPlan {
  const [user = "", name = ""] = who.split("/");
  const annotations = { "install.quartermaster.dev/author": user };
  return aPlan(name, { spec, metadata: { annotations }, ...(status === undefined ? {} : { status }) });
}

function named(...names: readonly string[]): object {
  return { replaces: { plans: names.map((name) => ({ name })) } };
}

describe("which plans a plan may take over from", () => {
  const a = madeBy("alice/a", {}, began);
  const account = "system:serviceaccount:ns:installer";

  test.each([
    {
      name: "the author may delete any",
      plan: madeBy("eve/p", named("a")),
      allowed: { eve: ["*"] },
      want: [],
    },
    {
      name: "the author may delete it",
      plan: madeBy("eve/p", named("a")),
      allowed: { eve: ["a"] },
      want: [],
    },
    {
      name: "the author may delete another",
      plan: madeBy("eve/p", named("a")),
      allowed: { eve: ["b"] },
      want: ["a"],
    },
    {
      name: "the account may, the recorded author may not",
      plan: madeBy("eve/p", named("a")),
      allowed: { [account]: ["*"] },
      want: ["a"],
    },
    {
      name: "no author, and the account may",
      plan: aPlan("p", { spec: named("a") }),
      allowed: { [account]: ["a"] },
      want: [],
    },
    {
      name: "no author, and the account may not",
      plan: aPlan("p", { spec: named("a") }),
      allowed: {},
      want: ["a"],
    },
    {
      name: "it names one that is not there",
      plan: madeBy("eve/p", named("gone")),
      allowed: {},
      want: [],
    },
    { name: "it has started", plan: madeBy("eve/p", named("a"), began), allowed: {}, want: [] },
  ])("$name", async ({ plan, allowed, want }) => {
    const { takeover } = await authorizedReplacement(
      plan,
      new PlanGraph([plan, a]),
      serverWhere(allowed).ctx,
    );
    expect(takeover.missing.map(({ name }) => name)).toEqual(want);
  });

  test("an unreadable author may delete nothing", async () => {
    const plan = madeBy("eve/p", named("a"));
    const annotations = { ...plan.metadata.annotations, "install.quartermaster.dev/author-groups": "x\ny" };
    const broken = { ...plan, metadata: { ...plan.metadata, annotations } };
    const { takeover } = await authorizedReplacement(
      broken,
      new PlanGraph([broken, a]),
      serverWhere({ eve: ["*"] }).ctx,
    );
    expect(takeover.missing).toHaveLength(1);
  });

  test("a plan that replaces no one asks nothing", async () => {
    const settings = Array.from({ length: 20 }, (_, index) => madeBy(`eve/w${index}`, named("x")));
    const { ctx, requested } = serverWhere({});
    await authorizedReplacement(a, new PlanGraph([a, ...settings]), ctx);
    expect(requested).toEqual([]);
  });

  test("a thousand plans of one author cost two questions, and are neither rivals nor a circle", async () => {
    const plan = madeBy("alice/p", named("a"));
    const settings = Array.from({ length: 1000 }, (_, index) => madeBy(`eve/w${index}`, named("a", "p")));
    const { ctx, requested } = serverWhere({ alice: ["*"] });
    const { replacement, takeover } = await authorizedReplacement(
      plan,
      new PlanGraph([plan, a, ...settings]),
      ctx,
    );
    expect(takeover.missing).toEqual([]);
    expect(replacement.issues).toEqual([]);
    expect(requested.toSorted()).toEqual(["alice/*", "eve/*", "eve/a", "eve/p"]);
  });

  test("more plans than one can take over from are an issue, and nothing is queried about them", async () => {
    const plan = madeBy("eve/p", { replaces: { selector: "app=shop" } });
    const many = Array.from({ length: 60 }, (_, index) =>
      aPlan(`v${index}`, { metadata: { labels: { app: "shop" } }, status: began }),
    );
    const { ctx, requested } = serverWhere({ eve: many.map(({ metadata }) => metadata.name) });
    const { replacement } = await authorizedReplacement(plan, new PlanGraph([plan, ...many]), ctx);
    expect(requested).toEqual([]);
    expect(replacement.predecessors).toEqual([]);
    expect(replacement.issues).toMatchObject([{ reason: "InvalidReplaces" }]);
  });

  test("more names of one author than the limit need the permission for all of them", async () => {
    const plan = madeBy("alice/p", named(...Array.from({ length: 40 }, (_, index) => `v${index}`)));
    const many = Array.from({ length: 40 }, (_, index) => aPlan(`v${index}`, { status: began }));
    const rivals = many.map(({ metadata: { name } }) => madeBy(`eve/w-${name}`, named(name, `of-${name}`)));
    const { ctx, requested } = serverWhere({ alice: ["*"], eve: many.map(({ metadata }) => metadata.name) });
    await authorizedReplacement(plan, new PlanGraph([plan, ...many, ...rivals]), ctx);
    expect(requested.filter((question) => question.startsWith("eve/")).length).toBeLessThanOrEqual(51);
  });
});

describe("claims on a plan", () => {
  const claim = (state: string): object => ({ replaces: [{ name: "a", uid: "uid-a", state }] });

  test.each([
    { name: "of one who may delete it", allowed: { eve: ["a"] }, status: began, want: "p" },
    { name: "of one who may not", allowed: {}, status: began, want: undefined },
    {
      name: "of one who may no longer, after it agreed",
      allowed: {},
      status: { ...began, replacedBy: { name: "p", uid: "uid-p", state: "InProgress" } },
      want: "p",
    },
  ])("$name", async ({ allowed, status, want }) => {
    const victim = aPlan("a", { status });
    for (const state of ["Releasing", "Superseded"]) {
      const plan = madeBy("eve/p", named("a"), claim(state));
      const { replacement } = await authorizedReplacement(
        victim,
        new PlanGraph([victim, plan]),
        serverWhere(allowed).ctx,
      );
      expect(replacement.successor?.name).toBe(want);
    }
  });
});

describe("superseded plans beyond the limit", () => {
  const done = { ...began, finishedAt: "2026-01-01T00:00:00Z" };
  const over = (name: string, revision = 1, metadata: object = {}): InstallPlan =>
    aPlan(name, {
      status: {
        ...began,
        phase: "Superseded",
        revision,
        replacedBy: { name: "p", uid: "uid-p", state: "Done" },
      },
      metadata,
    });

  test("only those that the author may delete are forgotten", async () => {
    const plan = madeBy("eve/p", { historyLimit: 0 }, done);
    const { ctx } = serverWhere({ eve: ["a"] });
    const { takeover } = await authorizedReplacement(plan, new PlanGraph([plan, over("a"), over("b")]), ctx);
    expect(takeover.forgettable.map(({ metadata }) => metadata.name)).toEqual(["a"]);
    expect(takeover.kept.map(({ metadata }) => metadata.name)).toEqual(["b"]);
  });

  test.each([
    { name: "the latest are kept", historyLimit: 1, status: done, want: ["b", "a"] },
    { name: "as many as the limit says", historyLimit: 2, status: done, want: ["a"] },
    { name: "all of them within the limit", historyLimit: 3, status: done, want: [] },
    { name: "all of them until the plan is installed", historyLimit: 0, status: began, want: [] },
  ])("$name", async ({ historyLimit, status, want }) => {
    const plan = madeBy("eve/p", { historyLimit }, status);
    const graph = new PlanGraph([plan, over("a", 1), over("b", 2), over("c", 3)]);
    const { takeover } = await authorizedReplacement(plan, graph, serverWhere({ eve: ["*"] }).ctx);
    expect(takeover.forgettable.map(({ metadata }) => metadata.name)).toEqual(want);
  });

  test("one that is being deleted already is not deleted again", async () => {
    const plan = madeBy("eve/p", { historyLimit: 0 }, done);
    const leaving = over("a", 1, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    const { ctx } = serverWhere({ eve: ["*"] });
    const { takeover } = await authorizedReplacement(plan, new PlanGraph([plan, leaving]), ctx);
    expect(takeover.forgettable).toEqual([]);
  });
});
