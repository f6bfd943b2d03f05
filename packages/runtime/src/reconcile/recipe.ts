import type { Desired } from "../apply/apply-owned.ts";
import type { Client } from "../client/client.ts";
import type { InformerRequest } from "../informers/informer-pool.ts";
import type { View } from "../informers/informer.ts";
import type { Kind } from "../object/kind.ts";
import type { KubeObject, Live, ObjectRef } from "../object/kube-object.ts";
import type { ReadStore } from "../store/object-store.ts";
import type { WatchState } from "../watch/watch-state.ts";
import type { MemorySlot } from "./define-memory.ts";
import type { Log } from "./log.ts";
import type { CleanUpEnd, Outcome, Verdict } from "./outcome.ts";

/**
 * A domain's behavior for one kind: observe everything, decide by rules, perform the actions.
 *
 * @example
 * const recipe: Recipe<Copy, Seen, Action> = { finalizer: "copies.example.com/clean-up", rules, observe, perform, cleanUp };
 */
export interface Recipe<Obj extends KubeObject, Seen, Action> {
  /** Set on an object before anything is made for it. Left out, objects are not claimed and `cleanUp` never runs. */
  readonly finalizer?: string | undefined;
  /** Types of conditions that this recipe states besides Ready, Reconciling and Stalled. */
  readonly conditionTypes?: readonly string[] | undefined;
  /** First response wins: this list is the table of contents. */
  readonly rules: readonly Rule<Seen, Action>[];
  /** Reads only. */
  observe(obj: Live<Obj>, ctx: Context): Promise<Seen>;
  /** One idempotent write, upon the value that the rules decided by. */
  perform(action: Action, ctx: Context, seen: Seen): Promise<void>;
  /** Status fields besides conditions when a reconcile failed (default: unchanged). */
  failureStatus?(obj: Live<Obj>, outcome: Outcome): object;
  /** A status was written that differs from the one before: the place for an event about what changed. Must not throw. */
  statusWritten?(before: Live<Obj>, end: CleanUpEnd, ctx: Pick<Context, "events" | "log">): void;
  /** Tolerates never having run before, and having run already. With a finalizer, either this or `deletion`. */
  cleanUp?(obj: Live<Obj>, ctx: Context): Promise<Outcome | CleanUpEnd>;
  /** The same in steps: what is left is observed, rules decide, `perform` acts. See `defineDeletion`. */
  readonly deletion?: Deletion<Obj, Action> | undefined;
}

/** How an object that is being deleted is cleaned up. The finalizer goes once the verdict is `settled` and its actions are done. */
export interface Deletion<Obj extends KubeObject, Action> {
  decide(obj: Live<Obj>, ctx: Context, now: () => Date): Promise<Decided<Action>>;
}

/** The verdict of a reconcile, and how its actions are carried out. */
export interface Decided<Action> {
  readonly rule: string;
  readonly verdict: Verdict<Action>;
  /** Carries out one action upon the value that the verdict was decided by. */
  perform(action: Action): Promise<void>;
}

/** Input of `defineDeletion`. */
export interface DeletionDefinition<Obj extends KubeObject, Left, Action> {
  /** Reads what is left of the object. */
  observe(obj: Live<Obj>, ctx: Context): Promise<Left>;
  /** First response wins. */
  readonly rules: readonly Rule<Left, Action>[];
  /** One idempotent write, upon what is left. */
  perform(action: Action, ctx: Context, left: Left): Promise<void>;
}

/**
 * A deletion that is decided by rules over what is left.
 *
 * @example
 * const deletion = defineDeletion({ observe: observeLeft, rules: [childrenRemain, nothingRemains], perform });
 */
export function defineDeletion<Obj extends KubeObject, Left, Action>(
  definition: DeletionDefinition<Obj, Left, Action>,
): Deletion<Obj, Action> {
  return { decide: decideBy(definition) };
}

/** Observes, and decides by the rules. */
export function decideBy<Obj extends KubeObject, Seen, Action>(
  definition: DeletionDefinition<Obj, Seen, Action>,
): Deletion<Obj, Action>["decide"] {
  return async (obj, ctx, now) => {
    const seen = await definition.observe(obj, ctx);
    const { rule, verdict } = firstDecision(definition.rules, seen, now());
    const perform = async (action: Action): Promise<void> => {
      await definition.perform(action, ctx, seen);
    };
    return { rule: rule.name, verdict, perform };
  };
}

/** Dependencies of a recipe. It ends with the reconcile: calls made after the signal aborted are refused. */
export interface Context {
  readonly client: Client;
  readonly log: Log;
  /** Aborts at the deadline of the reconcile, when leadership is lost and when the manager stops. */
  readonly signal: AbortSignal;
  readonly events: ReconcileEvents;
  /** The store of a kind that the controller named in `owns`, `watches` or `reads`. */
  store<O extends KubeObject>(kind: Kind<O>): ReadStore<O>;
  /**
   * One object by its name, e.g. a Secret that the spec refers to; each change of it brings the object of this reconcile back. Undefined
   * while there is none; its creation counts as a change. Holds until a later reconcile no longer requests it.
   *
   * The first call opens a watch of this one object, which all who follow it share; permissions can be limited to it by
   * `resourceNames`. Until the watch has a response the call throws, and the reconcile is repeated then. Of kinds in `reads` it reads
   * the store. Without a namespace, that of the object of this reconcile counts.
   */
  follow<O extends KubeObject>(kind: Kind<O>, ref: ObjectRef, view?: FollowView): Live<O> | undefined;
  /**
   * Objects of a kind that only the reconcile can name. The watch is shared and runs until no object's last reconcile requested it;
   * whom its changes bring back is what the controller's `tracks` says. Kinds that are not served are `pending`, and come
   * to life on their own.
   */
  track<O extends KubeObject>(request: InformerRequest<O>): Tracked<O>;
  /**
   * Makes an object that belongs to the object of this reconcile, or brings it back to what is declared: by server-side apply, with
   * an owner reference, and only when the live object differs. The kind has to be in `owns`. An object of the same name that has
   * another owner, or none, is left alone: the reconcile fails with reason `NameTaken`.
   */
  apply<O extends KubeObject>(kind: Kind<O>, desired: Desired<O>): Promise<Live<O>>;
  /** The controller's memory of this object; see `defineMemory`. */
  memory<T>(slot: MemorySlot<T>): T;
}

/** How much of a followed object is kept in memory (default: all of it). Of a kind in `reads`, its source says so. */
export type FollowView = Pick<View, "projection" | "isMetadataOnly">;

/** A share in a watch that a reconcile requested. */
export interface Tracked<O extends KubeObject = KubeObject> {
  readonly store: ReadStore<O>;
  readonly state: WatchState;
  /** Resolves once the initial list is complete, or the kind is not served. */
  readonly synced: Promise<void>;
  /** Resolves once the initial list is complete, or the kind is not served, or the operator may not watch it. */
  readonly firstResponse: Promise<void>;
  /** Nothing is known of the kind's objects, because we may not watch them. Tried again on each `track`, and on its own. */
  readonly isForbidden: boolean;
}

/** Reports to users what happened to the object of the reconcile. Never fails and never waits. */
export interface ReconcileEvents {
  record(event: ReconcileEvent): void;
}

/** Something that happened, with the value. */
export interface ReconcileEvent {
  readonly type: "Normal" | "Warning";
  /** CamelCase, from the domain's closed list. */
  readonly reason: string;
  /** Name of the action, CamelCase, e.g. `CreateService`. */
  readonly action: string;
  readonly note: string;
}

/** A rule decides for the value it gets, or passes. It does no I/O and reads no clock. */
export interface Rule<Seen, Action> {
  /** The situation it decides for, e.g. `quorumLost`. */
  readonly name: string;
  readonly decide: (seen: Seen, now: Date) => Verdict<Action> | undefined;
}

/** The decision of the first rule that does not pass. Throws when all pass: the last rule of a recipe must always decide. */
export function firstDecision<Seen, Action>(
  rules: readonly Rule<Seen, Action>[],
  seen: Seen,
  now: Date,
): { readonly rule: Rule<Seen, Action>; readonly verdict: Verdict<Action> } {
  for (const rule of rules) {
    const verdict = rule.decide(seen, now);
    if (verdict !== undefined) return { rule, verdict };
  }
  throw new TypeError("no rule decided: the last one always must");
}
