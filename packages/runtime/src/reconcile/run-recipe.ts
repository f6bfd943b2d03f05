import type { Kind } from "../object/kind.ts";
import { asLive, type KubeObject, type Live } from "../object/kube-object.ts";
import type { System } from "../system/system.ts";
import { unreachable } from "../unreachable.ts";
import { addFinalizer, lifecycle, removeFinalizer, type Stage } from "./lifecycle.ts";
import { type CleanUpEnd, type Outcome, settled, type Verdict } from "./outcome.ts";
import { type LanesEnd, performLanes } from "./perform-lanes.ts";
import { type Context, type Decided, decideBy, type Recipe } from "./recipe.ts";

/** What the runner needs besides the recipe. */
export interface RunnerOptions<Obj extends KubeObject> {
  readonly kind: Kind<Obj>;
  readonly ctx: Context;
  readonly system: Pick<System, "wallMs" | "monotonicMs">;
  /** Whether nobody has changed the object since. */
  readonly isLatest: (object: Live<Obj>) => boolean;
}

/** How a reconcile went that did not throw. */
export interface ReconcileEnd extends LanesEnd {
  /** Where the object was when the reconcile began. */
  readonly stage: Stage;
}

/** Runs the recipe on one object, as its stage of life asks for. */
export async function runRecipe<Obj extends KubeObject, Seen, Action>(
  recipe: Recipe<Obj, Seen, Action>,
  object: Live<Obj>,
  options: RunnerOptions<Obj>,
): Promise<ReconcileEnd> {
  const { finalizer = "" } = recipe;
  const stage = lifecycle(object, recipe.finalizer);
  switch (stage) {
    case "needsFinalizer":
      // Before the first child: a child that was made for an object without finalizer could outlive it.
      await addFinalizer(options.ctx.client, options.kind, { object, finalizer });
      return { stage, outcome: settled() };
    case "deleting": {
      const end = await cleanUp(recipe, object, options);
      if (end.outcome.kind === "settled")
        await removeFinalizer(options.ctx.client, options.kind, { object, finalizer });
      return { stage, ...end };
    }
    case "finalized":
      return { stage, outcome: settled() };
    case "active":
      return {
        stage,
        ...(await decideAndPerform(recipe, object, { ...options, decide: decideBy(recipe) })),
      };
    default:
      return unreachable(stage);
  }
}

async function cleanUp<Obj extends KubeObject, Seen, Action>(
  recipe: Recipe<Obj, Seen, Action>,
  object: Live<Obj>,
  options: RunnerOptions<Obj>,
): Promise<LanesEnd> {
  const { deletion } = recipe;
  if (deletion === undefined) return endOf((await recipe.cleanUp?.(object, options.ctx)) ?? settled());
  return await decideAndPerform(recipe, object, { ...options, decide: deletion.decide.bind(deletion) });
}

type Decide<Obj extends KubeObject, Action> = (
  obj: Live<Obj>,
  ctx: Context,
  now: () => Date,
) => Promise<Decided<Action>>;

/** Interim steps follow each other for so long without a word. */
const silentMs = 3_000;

async function decideAndPerform<Obj extends KubeObject, Seen, Action>(
  recipe: Recipe<Obj, Seen, Action>,
  object: Live<Obj>,
  { ctx, system, isLatest, decide }: RunnerOptions<Obj> & { readonly decide: Decide<Obj, Action> },
): Promise<LanesEnd> {
  const silentUntilMs = system.monotonicMs() + silentMs;
  let untold: CleanUpEnd | undefined;
  for (;;) {
    const current = untold === undefined ? object : withStatus(object, untold);
    const { rule, verdict } = await decide(current, ctx, () => new Date(system.wallMs()));
    const { isInterim = false } = verdict;
    if (untold !== undefined && isInterim && system.monotonicMs() > silentUntilMs) return untold;
    ctx.log.debug("rule answered", { rule, actions: verdict.actions.length });
    await performAll(recipe, verdict, { ctx, system });
    const { lanes } = verdict;
    if (lanes !== undefined) {
      const perform = async (actions: readonly Action[]): Promise<void> => {
        await performAll(recipe, { actions }, { ctx, system });
      };
      return await performLanes(endWith(verdict), lanes, { log: ctx.log, perform });
    }
    const end = endWith(verdict);
    // Somebody's edit, or the object's end, is worth a reconcile of its own.
    if (!isInterim || !isLatest(object)) return end;
    untold = end;
  }
}

function endWith({ outcome, status, conditions }: Verdict<unknown>): CleanUpEnd {
  return {
    outcome,
    ...(status === undefined ? {} : { status }),
    ...(conditions === undefined ? {} : { conditions }),
  };
}

/** The object as it will be once that is reported. Conditions are the runtime's: no recipe decides upon them. */
function withStatus<Obj extends KubeObject>(object: Live<Obj>, { status }: CleanUpEnd): Live<Obj> {
  return status === undefined ? object : asLive<Obj>({ ...object, status });
}

/** Takes the actions in their order, so many at a time. After the first that fails none is begun; those under way are waited for. */
async function performAll<Obj extends KubeObject, Seen, Action>(
  recipe: Recipe<Obj, Seen, Action>,
  {
    actions,
    inFlight = 1,
    beginWithinMs = Number.POSITIVE_INFINITY,
  }: Pick<Verdict<Action>, "actions" | "inFlight" | "beginWithinMs">,
  { ctx, system }: Pick<RunnerOptions<Obj>, "ctx" | "system">,
): Promise<void> {
  if (actions.length === 0) return;
  const endMs = system.monotonicMs() + beginWithinMs;
  const waitingActions = actions.values();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const action of waitingActions) {
      if (failures.length > 0 || system.monotonicMs() > endMs) return;
      try {
        ctx.signal.throwIfAborted();
        await recipe.perform(action, ctx);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, actions.length) }, worker));
  if (failures.length > 0) throw failures[0];
}

function endOf(end: Outcome | CleanUpEnd): CleanUpEnd {
  return "outcome" in end ? end : { outcome: end };
}
