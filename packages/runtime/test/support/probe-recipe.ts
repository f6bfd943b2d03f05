import type { KubeObject } from "../../src/object/kube-object.ts";
import { type Outcome, settled } from "../../src/reconcile/outcome.ts";
import type { Context, Recipe } from "../../src/reconcile/recipe.ts";

/** A recipe whose one step is the test's: what it returns is the outcome, what it throws is the failure. */
export function probeRecipe<O extends KubeObject>(
  step: (object: O, ctx: Context) => Promise<Outcome | undefined> | Outcome | undefined,
  more: { readonly finalizer?: string; readonly cleanUp?: Recipe<O, never, never>["cleanUp"] } = {},
): Recipe<O, Outcome, never> {
  return {
    ...(more.finalizer === undefined ? {} : { finalizer: more.finalizer }),
    observe: async (object, ctx) => (await step(object, ctx)) ?? settled(),
    rules: [{ name: "asSeen", decide: (outcome) => ({ actions: [], outcome }) }],
    perform: async () => {
      await Promise.resolve();
    },
    cleanUp: more.cleanUp ?? (async () => await Promise.resolve(settled())),
  };
}
