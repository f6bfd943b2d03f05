import type { KubeObject, Live } from "../object/kube-object.ts";
import { type CleanUpEnd, type Outcome, settled } from "../reconcile/outcome.ts";
import type { Context, Recipe } from "../reconcile/recipe.ts";

/** The status of a kind, as far as a reconcile writes it; conditions and observedGeneration are the runtime's. */
export type StatusOf<Obj extends KubeObject> = Obj extends { readonly status?: infer Status }
  ? Partial<Omit<NonNullable<Status>, "conditions" | "observedGeneration">>
  : object;

/** What a reconcile reports besides the outcome. */
export interface Reconciled<Obj extends KubeObject> extends Omit<CleanUpEnd, "status"> {
  readonly status?: StatusOf<Obj>;
}

/** The short form of a controller, for kinds whose decision is short: one function reads, decides and writes. */
export interface ReconcileDefinition<Obj extends KubeObject> {
  /** Brings the world to what the object declares; idempotent. Nothing returned means `settled()`. */
  readonly reconcile: (
    object: Live<Obj>,
    ctx: Context,
  ) => Promise<Outcome | Reconciled<Obj> | undefined | void>;
  /** With it, objects get a finalizer before their first reconcile. Objects with an owner reference need none. */
  readonly cleanUp?: (object: Live<Obj>, ctx: Context) => Promise<Outcome | CleanUpEnd>;
  /** Name of the finalizer (default: `<group>/<plural>`). */
  readonly finalizer?: string;
  /** Types of conditions that it reports besides Ready, Reconciling and Stalled. */
  readonly conditionTypes?: readonly string[];
}

/** The short form as a recipe: what would be decided by rules is decided where it is read. */
export function recipeOf<Obj extends KubeObject>(
  { reconcile, cleanUp, finalizer, conditionTypes }: ReconcileDefinition<Obj>,
  defaultFinalizer: string,
): Recipe<Obj, CleanUpEnd, never> {
  return {
    ...(cleanUp === undefined ? {} : { finalizer: finalizer ?? defaultFinalizer }),
    ...(conditionTypes === undefined ? {} : { conditionTypes }),
    observe: async (object, ctx) => {
      const end = (await reconcile(object, ctx)) ?? settled();
      return "outcome" in end ? end : { outcome: end };
    },
    rules: [{ name: "reconcile", answer: (end) => ({ actions: [], ...end }) }],
    perform: async () => {
      await Promise.resolve();
    },
    cleanUp: async (object, ctx) => (await cleanUp?.(object, ctx)) ?? settled(),
  };
}
