import type { Kind } from "../object/kind.ts";
import { asLive, type KubeObject, type Live } from "../object/kube-object.ts";
import { inParallel } from "../system/in-parallel.ts";
import type { System } from "../system/system.ts";
import { unreachable } from "../unreachable.ts";
import { addFinalizer, lifecycle, removeFinalizer, type Stage } from "./lifecycle.ts";
import { type CleanUpEnd, type Outcome, settled, type Verdict } from "./outcome.ts";
import { type LanesEnd, performLanes } from "./perform-lanes.ts";
import { type Context, type Decided, decideBy, type Recipe } from "./recipe.ts";

export interface RunnerOptions<Obj extends KubeObject> {
  readonly kind: Kind<Obj>;
  readonly system: Pick<System, "wallMs" | "monotonicMs">;
  /** Whether no one has changed the object since. */
  readonly isLatest: (object: Live<Obj>) => boolean;
}

/** How a reconcile went that did not throw. */
export interface ReconcileEnd extends LanesEnd {
  /** Where the object was when the reconcile began. */
  readonly stage: Stage;
}

/** Interim steps follow each other for so long without a word. */
const silentMs = 3_000;

/** Runs a recipe on one object after the other, as its stage of life requests. */
export class RecipeRunner<Obj extends KubeObject, Seen, Action> {
  readonly #recipe: Recipe<Obj, Seen, Action>;
  readonly #options: RunnerOptions<Obj>;
  readonly #byRules: Decide<Obj, Action>;

  constructor(recipe: Recipe<Obj, Seen, Action>, options: RunnerOptions<Obj>) {
    this.#recipe = recipe;
    this.#options = options;
    this.#byRules = decideBy(recipe);
  }

  async run(object: Live<Obj>, ctx: Context): Promise<ReconcileEnd> {
    const { finalizer = "" } = this.#recipe;
    const { kind } = this.#options;
    const stage = lifecycle(object, this.#recipe.finalizer);
    switch (stage) {
      case "needsFinalizer":
        // Before the first child: a child that was made for an object without finalizer could outlive it.
        await addFinalizer(ctx.client, kind, { object, finalizer });
        return { stage, outcome: settled() };
      case "deleting": {
        const end = await this.#cleanUp(object, ctx);
        if (end.outcome.kind === "settled") await removeFinalizer(ctx.client, kind, { object, finalizer });
        return { stage, ...end };
      }
      case "finalized":
        return { stage, outcome: settled() };
      case "active":
        return { stage, ...(await this.#decideAndPerform(object, ctx, this.#byRules)) };
      default:
        return unreachable(stage);
    }
  }

  async #cleanUp(object: Live<Obj>, ctx: Context): Promise<LanesEnd> {
    const { deletion } = this.#recipe;
    if (deletion !== undefined) {
      return await this.#decideAndPerform(object, ctx, deletion.decide.bind(deletion));
    }
    return endOf((await this.#recipe.cleanUp?.(object, ctx)) ?? settled());
  }

  async #decideAndPerform(object: Live<Obj>, ctx: Context, decide: Decide<Obj, Action>): Promise<LanesEnd> {
    const { system, isLatest } = this.#options;
    const silentUntilMs = system.monotonicMs() + silentMs;
    let unreported: CleanUpEnd | undefined;
    for (;;) {
      const current = unreported === undefined ? object : withStatus(object, unreported);
      const decided = await decide(current, ctx, this.#now);
      const { rule, verdict } = decided;
      const { isInterim, lanes } = verdict;
      const perform = async (performable: Performable<Action>): Promise<void> => {
        await this.#performAll(performable, decided, ctx.signal);
      };
      if (unreported !== undefined && isInterim === true && system.monotonicMs() > silentUntilMs)
        return unreported;
      ctx.log.debug("rule decided", { rule, actions: verdict.actions.length });
      if (verdict.actions.length > 0) await perform(verdict);
      if (lanes !== undefined)
        return await performLanes(endWith(verdict), lanes, {
          log: ctx.log,
          perform: async (actions) => {
            await perform({ actions });
          },
        });
      const end = endWith(verdict);
      // An edit, or the object's deletion, needs a reconcile of its own.
      if (isInterim !== true || !isLatest(object)) return end;
      unreported = end;
    }
  }

  readonly #now = (): Date => new Date(this.#options.system.wallMs());

  /** Takes the actions in their order. Once the time is over, or one has failed, no further one is started. */
  async #performAll(
    { actions, inFlight = 1, beginWithinMs = Number.POSITIVE_INFINITY }: Performable<Action>,
    decided: Decided<Action>,
    signal: AbortSignal,
  ): Promise<void> {
    const { system } = this.#options;
    const endMs = system.monotonicMs() + beginWithinMs;
    await inParallel(actions, inFlight, async (action) => {
      if (system.monotonicMs() > endMs) return;
      signal.throwIfAborted();
      await decided.perform(action);
    });
  }
}

type Decide<Obj extends KubeObject, Action> = (
  obj: Live<Obj>,
  ctx: Context,
  now: () => Date,
) => Promise<Decided<Action>>;

type Performable<Action> = Pick<Verdict<Action>, "actions" | "inFlight" | "beginWithinMs">;

function endWith({ outcome, status, conditions }: Verdict<unknown>): CleanUpEnd {
  if (status === undefined && conditions === undefined) return { outcome };
  return {
    outcome,
    status,
    conditions,
  };
}

/** The object as it will be once that is reported. Conditions are the runtime's: no recipe decides upon them. */
function withStatus<Obj extends KubeObject>(object: Live<Obj>, { status }: CleanUpEnd): Live<Obj> {
  return status === undefined ? object : asLive<Obj>({ ...object, status });
}

function endOf(end: Outcome | CleanUpEnd): CleanUpEnd {
  return "outcome" in end ? end : { outcome: end };
}
