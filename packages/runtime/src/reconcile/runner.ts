import type { Client } from "../client/client.ts";
import type { Kind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import { unreachable } from "../unreachable.ts";
import { addFinalizer, removeFinalizer } from "./finalizer.ts";
import { lifecycle, type Stage } from "./lifecycle.ts";
import { type Outcome, settled } from "./outcome.ts";
import type { Context, Recipe } from "./recipe.ts";
import { firstAnswer } from "./rule.ts";

/** What the runner needs besides the recipe. */
export interface RunnerOptions<Obj extends KubeObject> {
  readonly kind: Kind<Obj>;
  readonly client: Client;
  readonly ctx: Context;
  readonly now: Date;
}

/** How a pass went that did not throw. */
export interface PassEnd {
  /** Where the object was when the pass began. */
  readonly stage: Stage;
  readonly outcome: Outcome;
  /** What the status says besides conditions; undefined leaves it as it is. */
  readonly status?: object;
}

/** Runs the recipe on one object, as its stage of life asks for. */
export async function runRecipe<Obj extends KubeObject, Seen, Action>(
  recipe: Recipe<Obj, Seen, Action>,
  object: Obj,
  options: RunnerOptions<Obj>,
): Promise<PassEnd> {
  const { finalizer = "" } = recipe;
  const stage = lifecycle(object, recipe.finalizer);
  switch (stage) {
    case "unclaimed":
      // Before the first child: a child that was made for an object without finalizer could outlive it.
      await addFinalizer(options.client, options.kind, { object, finalizer });
      return { stage, outcome: settled() };
    case "leaving": {
      const outcome = await recipe.cleanUp(object, options.ctx);
      if (outcome.kind === "settled")
        await removeFinalizer(options.client, options.kind, { object, finalizer });
      return { stage, outcome };
    }
    case "gone":
      return { stage, outcome: settled() };
    case "claimed":
      return { stage, ...(await decideAndPerform(recipe, object, options)) };
    default:
      return unreachable(stage);
  }
}

async function decideAndPerform<Obj extends KubeObject, Seen, Action>(
  recipe: Recipe<Obj, Seen, Action>,
  object: Obj,
  { ctx, now }: RunnerOptions<Obj>,
): Promise<Omit<PassEnd, "stage">> {
  const seen = await recipe.observe(object, ctx);
  const { rule, verdict } = firstAnswer(recipe.rules, seen, now);
  ctx.log.debug("rule answered", { rule: rule.name, actions: verdict.actions.length });
  for (const action of verdict.actions) {
    ctx.signal.throwIfAborted();
    await recipe.perform(action, ctx);
  }
  const { outcome, status } = verdict;
  return status === undefined ? { outcome } : { outcome, status };
}
