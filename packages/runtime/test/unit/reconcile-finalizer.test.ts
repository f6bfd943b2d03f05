import { describe, expect, test } from "vitest";

import { ApiError } from "../../src/errors.ts";
import type { Live } from "../../src/object/kube-object.ts";
import { silentLog } from "../../src/reconcile/log.ts";
import { held, type Outcome, settled, stalled, waiting } from "../../src/reconcile/outcome.ts";
import { RecipeRunner } from "../../src/reconcile/recipe-runner.ts";
import type { Context, Recipe } from "../../src/reconcile/recipe.ts";
import { type ConfigMap, configMaps } from "../support/kinds.ts";

const finalizer = "things.example.com/clean-up";
const deletionTimestamp = "2026-01-01T00:00:00Z";
const why = { reason: "Because", message: "Because of it." };

interface Ran {
  /** Bodies of the patches that were sent. */
  readonly patches: readonly unknown[];
  readonly didCleanUp: boolean;
  readonly didWork: boolean;
  readonly failure?: unknown;
}

/** Runs one reconcile over an object with this metadata. */
async function run(
  metadata: Partial<ConfigMap["metadata"]>,
  { outcome = settled(), refusal }: { readonly outcome?: Outcome; readonly refusal?: ApiError } = {},
): Promise<Ran> {
  const object: Live<ConfigMap> = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "ns", uid: "u", resourceVersion: "7", ...metadata },
  };
  const patches: unknown[] = [];
  const done = new Set<string>();
  const recipe: Recipe<ConfigMap, string, never> = {
    finalizer,
    rules: [{ name: "only", decide: () => ({ actions: [], outcome: settled() }) }],
    observe: async () => await Promise.resolve(String(done.add("work").size)),
    perform: async () => {
      await Promise.resolve();
    },
    cleanUp: async () => {
      done.add("cleanUp");
      return await Promise.resolve(outcome);
    },
  };
  const client = {
    patch: async (
      _kind: unknown,
      _ref: unknown,
      { patch }: { readonly patch: { readonly body: unknown } },
    ) => {
      patches.push(patch.body);
      if (refusal !== undefined) throw refusal;
      return await Promise.resolve(object);
    },
  };
  const ctx = { client, signal: new AbortController().signal, log: silentLog } as unknown as Context;
  const system = { wallMs: () => 0, monotonicMs: () => 0 };
  const runner = new RecipeRunner(recipe, { kind: configMaps, system, isLatest: () => true });
  const ended = (failure?: unknown): Ran => ({
    patches,
    didCleanUp: done.has("cleanUp"),
    didWork: done.has("work"),
    ...(failure === undefined ? {} : { failure }),
  });
  try {
    await runner.run(object, ctx);
    return ended();
  } catch (failure) {
    return ended(failure);
  }
}

/** A patch of exactly the object that was seen. */
function patchTo(...finalizers: readonly string[]): object {
  return { metadata: { uid: "u", resourceVersion: "7", finalizers } };
}

describe("the finalizer", () => {
  test("is set before anything is done, beside those of others", async () => {
    const ran = await run({ finalizers: ["other"] });
    expect(ran).toEqual({ patches: [patchTo("other", finalizer)], didCleanUp: false, didWork: false });
  });

  test("is not set on what is being deleted", async () => {
    const ran = await run({ finalizers: ["other"], deletionTimestamp });
    expect(ran).toEqual({ patches: [], didCleanUp: false, didWork: false });
  });

  test("goes when the clean-up is done; those of others stay", async () => {
    const ran = await run({ finalizers: ["other", finalizer], deletionTimestamp });
    expect(ran).toEqual({ patches: [patchTo("other")], didCleanUp: true, didWork: false });
  });

  test.each([
    { outcome: waiting(why, 5) },
    { outcome: stalled(why) },
    { outcome: stalled(why, 5) },
    { outcome: held(why) },
  ])("stays while the clean-up is $outcome.kind", async ({ outcome }) => {
    const ran = await run({ finalizers: [finalizer], deletionTimestamp }, { outcome });
    expect(ran).toEqual({ patches: [], didCleanUp: true, didWork: false });
  });

  test("counts as removed when the object no longer exists", async () => {
    const refusal = new ApiError("404", { class: "notFound", mayHaveActed: false });
    const { failure } = await run({ finalizers: [finalizer], deletionTimestamp }, { refusal });
    expect(failure).toBeUndefined();
  });

  test("is tried again when the object has changed", async () => {
    const refusal = new ApiError("409", { class: "conflict", mayHaveActed: false });
    const { failure } = await run({ finalizers: [finalizer], deletionTimestamp }, { refusal });
    expect(failure).toBe(refusal);
  });
});
