import { describe, expect, test } from "vitest";

import { asLive } from "../../src/object/kube-object.ts";
import { silentLog } from "../../src/reconcile/log.ts";
import { settled, type Verdict, waiting } from "../../src/reconcile/outcome.ts";
import { type ReconcileEnd, RecipeRunner } from "../../src/reconcile/recipe-runner.ts";
import { type Context, defineDeletion, type Recipe } from "../../src/reconcile/recipe.ts";
import { type ConfigMap, configMaps } from "../support/kinds.ts";

const object: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "ns" } };
const again = waiting({ reason: "Writing", message: "Writes." }, 0);

interface Work {
  /** What happened, in order. */
  readonly reported: readonly string[];
  readonly failure?: unknown;
}

/** Performs the verdict; each action takes a second. */
async function perform(verdict: Verdict<number>, failing?: number): Promise<Work> {
  const reported: string[] = [];
  let nowMs = 0;
  const recipe: Recipe<ConfigMap, string, number> = {
    rules: [{ name: "only", decide: () => verdict }],
    observe: async () => await Promise.resolve("seen"),
    perform: async (action) => {
      reported.push(`${action} begins`);
      await Promise.resolve();
      nowMs += 1_000;
      if (action === failing) throw new Error(`${action} fails`);
      reported.push(`${action} ends`);
    },
    cleanUp: async () => await Promise.resolve(settled()),
  };
  const ctx = { signal: new AbortController().signal, log: silentLog } as unknown as Context;
  const system = { wallMs: () => nowMs, monotonicMs: () => nowMs };
  const runner = new RecipeRunner(recipe, { kind: configMaps, system, isLatest: () => true });
  try {
    await runner.run(asLive(object), ctx);
    return { reported };
  } catch (failure) {
    return { reported, failure };
  }
}

describe("the actions of a verdict", () => {
  test("are taken one after the other by default", async () => {
    const { reported } = await perform({ actions: [1, 2], outcome: settled() });
    expect(reported).toEqual(["1 begins", "1 ends", "2 begins", "2 ends"]);
  });

  test("are taken so many at a time", async () => {
    const { reported } = await perform({ actions: [1, 2, 3], inFlight: 2, outcome: settled() });
    expect(reported.slice(0, 2)).toEqual(["1 begins", "2 begins"]);
    expect(reported.filter((text) => text.endsWith("ends"))).toHaveLength(3);
  });

  test("are not begun after the time for it is over", async () => {
    const { reported } = await perform({
      actions: [1, 2, 3],
      beginWithinMs: 1_500,
      outcome: again,
    });
    expect(reported).toEqual(["1 begins", "1 ends", "2 begins", "2 ends"]);
  });

  test("are not begun after one has failed", async () => {
    const { reported, failure } = await perform({ actions: [1, 2, 3], outcome: settled() }, 2);
    expect(reported).toEqual(["1 begins", "1 ends", "2 begins"]);
    expect(failure).toEqual(new Error("2 fails"));
  });
});

describe("perform", () => {
  test("is given the value that its actions were decided by, in a deletion too", async () => {
    const given: unknown[] = [];
    const act = async (action: string, _ctx: Context, seen: unknown): Promise<void> => {
      given.push([action, seen]);
      await Promise.resolve();
    };
    const deletion = defineDeletion<ConfigMap, readonly string[], string>({
      observe: async ({ metadata }) => await Promise.resolve([metadata.name, "left"]),
      rules: [{ name: "only", decide: () => ({ actions: ["delete"], outcome: settled() }) }],
      perform: act,
    });
    const recipe: Recipe<ConfigMap, string, string> = {
      rules: [{ name: "only", decide: (seen) => ({ actions: [`write ${seen}`], outcome: settled() }) }],
      observe: async ({ metadata }) => await Promise.resolve(`${metadata.name} seen`),
      perform: act,
      deletion,
    };
    const ctx = { signal: new AbortController().signal, log: silentLog } as unknown as Context;
    const system = { wallMs: () => 0, monotonicMs: () => 0 };
    const runner = new RecipeRunner(recipe, { kind: configMaps, system, isLatest: () => true });
    await runner.run(asLive(object), ctx);
    const decided = await deletion.decide(asLive(object), ctx, () => new Date(0));
    await decided.perform("delete");
    expect(given).toEqual([
      ["write a seen", "a seen"],
      ["delete", ["a", "left"]],
    ]);
  });
});

interface Counter extends ConfigMap {
  readonly status?: { readonly count: number };
}

/** Counts to the goal, one step at a time, each interim; gives what the reconcile comes to and how often it looked. */
async function count({
  goal,
  stepMs = 0,
  isLatest = true,
}: {
  readonly goal: number;
  readonly stepMs?: number;
  readonly isLatest?: boolean;
}): Promise<{ readonly end: ReconcileEnd; readonly performed: readonly number[] }> {
  const performed: number[] = [];
  let nowMs = 0;
  const recipe: Recipe<Counter, number, number> = {
    rules: [
      {
        name: "step",
        decide: (seen) =>
          seen === goal
            ? { actions: [], outcome: settled(), status: { count: seen } }
            : { actions: [seen + 1], isInterim: true, outcome: again, status: { count: seen + 1 } },
      },
    ],
    observe: async ({ status }) => await Promise.resolve(status?.count ?? 0),
    perform: async (action) => {
      performed.push(action);
      nowMs += stepMs;
      await Promise.resolve();
    },
    cleanUp: async () => await Promise.resolve(settled()),
  };
  const ctx = { signal: new AbortController().signal, log: silentLog } as unknown as Context;
  const system = { wallMs: () => nowMs, monotonicMs: () => nowMs };
  const runner = new RecipeRunner(recipe, { kind: configMaps, system, isLatest: () => isLatest });
  const end = await runner.run(asLive(object), ctx);
  return { end, performed };
}

describe("an interim verdict", () => {
  test("is followed by the next immediately, with its status taken for granted; the last one is reported", async () => {
    const { end, performed } = await count({ goal: 3 });
    expect(performed).toEqual([1, 2, 3]);
    expect(end).toEqual({ stage: "active", outcome: settled(), status: { count: 3 } });
  });

  test("is reported after a while, and what comes next is left to the next reconcile", async () => {
    const { end, performed } = await count({ goal: 9, stepMs: 2_000 });
    expect(performed).toEqual([1, 2]);
    expect(end).toEqual({ stage: "active", outcome: again, status: { count: 2 } });
  });

  test("is not told when the end comes right after it, however long it took", async () => {
    const { end } = await count({ goal: 1, stepMs: 10_000 });
    expect(end.status).toEqual({ count: 1 });
    expect(end.outcome).toEqual(settled());
  });

  test("is reported immediately when another client has changed the object", async () => {
    const { end, performed } = await count({ goal: 3, isLatest: false });
    expect(performed).toEqual([1]);
    expect(end.status).toEqual({ count: 1 });
  });
});
