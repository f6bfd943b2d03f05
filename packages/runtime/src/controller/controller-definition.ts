import type { InformerRequest } from "../informers/informer-pool.ts";
import type { Kind } from "../object/kind.ts";
import type { KubeObject, Live, ObjectRef } from "../object/kube-object.ts";
import type { RetryLimits } from "../queue/work-queue.ts";
import type { Recipe } from "../reconcile/recipe.ts";
import type { Predicate } from "./predicate.ts";
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
  readonly reenqueueForMs?: number;
}

/** What a controller watches, and how it works. Everything has a default. */
export interface ControllerOptions<Obj extends KubeObject> {
  /** For logs, metrics and as field manager (default: the kind's plural). */
  readonly name?: string;
  /** Objects worked on at the same time (default: 4). */
  readonly concurrency?: number;
  /** Only objects of this namespace (default: all). */
  readonly namespace?: string;
  readonly labelSelector?: string;
  /** Kinds whose objects we make: a change brings their controlling owner back. */
  readonly owns?: readonly Source[];
  /** Kinds whose changes are mapped to our objects. */
  readonly watches?: readonly MappedSource[];
  /** Kinds of which many objects are followed: one watch serves them all (default: one for each object; see `Context.follow`). */
  readonly follows?: readonly Source[];
  /** How many objects may be followed with a watch of their own (default: 256). Beyond it reconciles fail with `FollowLimitReached`. */
  readonly followLimit?: number;
  /** Whom a change of an object behind `Context.track` brings back; called with the old and the new state. */
  readonly tracks?: (object: Live) => readonly ObjectRef[];
  /** Kinds that are only read from their stores. */
  readonly reads?: readonly Source[];
  /** Which events of our own kind matter (default: changes of the declaration). */
  readonly predicate?: Predicate<Obj>;
  /** A reconcile that takes longer is aborted and repeated (default: 60 s). */
  readonly deadlineMs?: number;
  /** False for kinds without status (default: true). */
  readonly writesStatus?: boolean;
  /** Every object is looked at again about so often, although no event announced a change (default: 10 h). */
  readonly resyncMs?: number;
  /** Watches a system that has no Kubernetes watch, and wakes the objects it concerns; see `Signals`. */
  readonly signals?: Signals;
  /** How failures are retried (default: 5 ms, doubling to 1,000 s). */
  readonly retry?: RetryLimits;
}

/** A controller in the long form: a recipe of `observe`, `rules` and `perform`. */
export interface RecipeDefinition<Obj extends KubeObject, Seen, Action> extends ControllerOptions<Obj> {
  readonly recipe: Recipe<Obj, Seen, Action>;
}

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
  return isWithin ? { namespace, ...request } : request;
}
