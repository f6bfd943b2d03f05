import type { InformerEvent } from "../informers/informer-event.ts";
import type { InformerRequest } from "../informers/informer-pool.ts";
import { deepEqual } from "../object/deep-equal.ts";
import type { Kind } from "../object/kind.ts";
import type { KubeObject, Live, ObjectRef } from "../object/kube-object.ts";
import type { RetryLimits } from "../queue/work-queue.ts";
import { type CleanUpEnd, type Outcome, settled } from "../reconcile/outcome.ts";
import type { Context, Recipe } from "../reconcile/recipe.ts";
import type { ReadStore } from "../store/object-store.ts";
import type { Signals } from "./run-signals.ts";

/** A kind, or a kind with what of it is wanted: a namespace, a selector, only metadata, a projection. */
export type Source<O extends KubeObject = KubeObject> = Kind<O> | InformerRequest<O>;

/** An object of ours that a change concerns; `afterMs` says how long that can wait (default: 0), merged with other changes. */
export type WokenRef = ObjectRef & { readonly afterMs?: number };

/** A kind whose changes concern other objects than those that own them. See `mappedFrom`. */
export interface MappedSource {
  readonly source: Source;
  readonly refsOf: (object: Live) => readonly WokenRef[];
  readonly options: MappedOptions;
}

/** Which changes of a mapped kind count, and for how long. */
export interface MappedOptions<O extends KubeObject = KubeObject> extends Predicate<O> {
  /**
   * The objects are enqueued again for so long after a change, because the API server itself follows it late: a Role or a webhook
   * configuration takes effect shortly after its event (default: once).
   */
  readonly reenqueueForMs?: number | undefined;
}

/** Options of a controller: what it watches and how it works. Everything has a default. */
export interface ControllerOptions<Obj extends KubeObject> {
  /** For logs, metrics and as field manager (default: the kind's plural). */
  readonly name?: string | undefined;
  /** Objects worked on at the same time (default: 4). */
  readonly concurrency?: number | undefined;
  /** Only objects of this namespace (default: all). */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** E.g. `metadata.name=…`, for a controller of one object. */
  readonly fieldSelector?: string | undefined;
  /** Kinds whose objects we make: a change brings their controlling owner back. */
  readonly owns?: readonly Source[] | undefined;
  /** Kinds whose changes are mapped to our objects. */
  readonly watches?: readonly MappedSource[] | undefined;
  /** How many objects may be followed with a watch of their own (default: 256). Beyond it reconciles fail with `FollowLimitReached`. */
  readonly followLimit?: number | undefined;
  /** The same for objects of one namespace, so that no tenant takes all of them (default: `followLimit`); `NamespaceFollowLimitReached`. */
  readonly namespaceFollowLimit?: number | undefined;
  /** Whom a change of an object behind `Context.track` brings back, found among ours; called with the old and the new state. */
  readonly tracks?: ((object: Live, ours: ReadStore<Obj>) => readonly ObjectRef[]) | undefined;
  /** Kinds that reconciles read, from their stores or by `Context.follow`: one watch serves all objects of such a kind. */
  readonly reads?: readonly Source[] | undefined;
  /** Kinds that we may be forbidden to watch: the controller works without them, and their stores are not synced then. */
  readonly worksWithout?: readonly Kind[] | undefined;
  /** Which events of our own kind matter (default: changes of the declaration). */
  readonly predicate?: Predicate<Obj> | undefined;
  /** A reconcile that takes longer is aborted and repeated (default: 60 s). */
  readonly deadlineMs?: number | undefined;
  /** False for kinds without status (default: true). */
  readonly writesStatus?: boolean | undefined;
  /** Every object is looked at again about so often, although no event announced a change (default: 10 h). */
  readonly resyncMs?: number | undefined;
  /** Watches a system that has no Kubernetes watch, and wakes the objects it concerns; see `Signals`. */
  readonly signals?: Signals | undefined;
  /** How failures are retried (default: 5 ms, doubling to 1,000 s). */
  readonly retry?: RetryLimits | undefined;
}

/** A controller in the long form: a recipe of `observe`, `rules` and `perform`. */
export interface RecipeDefinition<Obj extends KubeObject, Seen, Action> extends ControllerOptions<Obj> {
  readonly recipe: Recipe<Obj, Seen, Action>;
}

/** A controller in one of its two forms. */
export type ControllerDefinition<Obj extends KubeObject, Seen, Action> =
  | RecipeDefinition<Obj, Seen, Action>
  | (ReconcileDefinition<Obj> & ControllerOptions<Obj>);

/**
 * A kind whose objects say which of ours they concern.
 *
 * @example
 * watches: [mappedFrom(secrets, ({ metadata: { namespace, labels } }) => refsFromLabels(namespace, labels))]
 */
export function mappedFrom<O extends KubeObject>(
  source: Source<O>,
  refsOf: (object: Live<O>) => readonly WokenRef[],
  options: MappedOptions<O> = {},
): MappedSource {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the source vouches for the type of what the functions are given
  return { source, refsOf, options } as unknown as MappedSource;
}

/** The request that a source stands for, within the namespace of its controller. */
export function requestOf<O extends KubeObject>(
  source: Source<O>,
  namespace: string | undefined,
): InformerRequest<O> {
  const request: InformerRequest<O> = "plural" in source ? { kind: source } : source;
  const isWithin = namespace !== undefined && request.kind.scope === "Namespaced";
  return isWithin ? { ...request, namespace: request.namespace ?? namespace } : request;
}

/** The status of a kind, as far as a reconcile writes it; conditions and observedGeneration are the runtime's. */
export type StatusOf<Obj extends KubeObject> = Obj extends { readonly status?: infer Status }
  ? Partial<Omit<NonNullable<Status>, "conditions" | "observedGeneration">>
  : object;

/** Additional results of a reconcile. */
export interface Reconciled<Obj extends KubeObject> extends Omit<CleanUpEnd, "status"> {
  readonly status?: StatusOf<Obj> | undefined;
}

/** The short form of a controller, for kinds whose decision is short: one function reads, decides and writes. */
export interface ReconcileDefinition<Obj extends KubeObject> {
  /** Makes the cluster match the object; idempotent. Nothing returned means `settled()`. */
  readonly reconcile: (
    object: Live<Obj>,
    ctx: Context,
  ) => Promise<Outcome | Reconciled<Obj> | undefined | void>;
  /** With it, objects get a finalizer before their first reconcile. Objects with an owner reference need none. */
  readonly cleanUp?: ((object: Live<Obj>, ctx: Context) => Promise<Outcome | CleanUpEnd>) | undefined;
  /** Name of the finalizer (default: `<group>/<plural>`). */
  readonly finalizer?: string | undefined;
  /** Types of conditions that it reports besides Ready, Reconciling and Stalled. */
  readonly conditionTypes?: readonly string[] | undefined;
}

/** The short form as a recipe: what would be decided by rules is decided where it is read. */
export function recipeOf<Obj extends KubeObject>(
  { reconcile, cleanUp, finalizer, conditionTypes }: ReconcileDefinition<Obj>,
  defaultFinalizer: string,
): Recipe<Obj, CleanUpEnd, never> {
  return {
    finalizer: cleanUp === undefined ? undefined : (finalizer ?? defaultFinalizer),
    conditionTypes,
    observe: async (object, ctx) => {
      const end = (await reconcile(object, ctx)) ?? settled();
      return "outcome" in end ? end : { outcome: end };
    },
    rules: [{ name: "reconcile", decide: (end) => ({ actions: [], ...end }) }],
    perform: async () => {
      await Promise.resolve();
    },
    cleanUp: async (object, ctx) => (await cleanUp?.(object, ctx)) ?? settled(),
  };
}

/** Which events matter. */
export interface Predicate<O extends KubeObject = KubeObject> {
  /** False drops the event. */
  readonly event?: ((event: InformerEvent<O>) => boolean) | undefined;
  /** An update matters only when what this gives has changed. Creation and deletion always matter. */
  readonly changed?: ((object: Live<O>) => unknown) | undefined;
}

/** Whether an event passes. */
export function passes<O extends KubeObject>(
  { event: judge, changed }: Predicate<O>,
  event: InformerEvent<O>,
): boolean {
  if (judge !== undefined && !judge(event)) return false;
  if (event.type !== "updated" || changed === undefined) return true;
  return !deepEqual(changed(event.old), changed(event.new));
}

/**
 * Changes of its own kind that a controller reacts to by default: the spec (by its generation), labels, annotations, finalizers and
 * the deletion. Not the status: that is our own writing. Kinds without generation have no such split.
 */
export const declarationChanged: Predicate = {
  event: (event) =>
    event.type !== "updated" ||
    event.new.metadata.generation === undefined ||
    isDeclaredAnew(event.old, event.new),
};

/** Scalars first: most events differ in the generation, and then nothing else need be compared. */
function isDeclaredAnew({ metadata: old }: KubeObject, { metadata: now }: KubeObject): boolean {
  return (
    old.generation !== now.generation ||
    old.uid !== now.uid ||
    old.deletionTimestamp !== now.deletionTimestamp ||
    !deepEqual(old.labels, now.labels) ||
    !deepEqual(old.annotations, now.annotations) ||
    !deepEqual(old.finalizers, now.finalizers)
  );
}
