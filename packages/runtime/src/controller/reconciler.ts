import { type AppliedObjects, applyOwned } from "../apply/apply-owned.ts";
import type { Client } from "../client/client.ts";
import { classify } from "../errors.ts";
import type { Kind } from "../object/kind.ts";
import { keyOf, type KubeObject, type Live, type ObjectKey } from "../object/kube-object.ts";
import { defineMemory, Memories } from "../reconcile/define-memory.ts";
import { judgeFailure } from "../reconcile/judge-failure.ts";
import type { Log } from "../reconcile/log.ts";
import type { CleanUpEnd, Outcome } from "../reconcile/outcome.ts";
import type { Context, Recipe, ReconcileEvents } from "../reconcile/recipe.ts";
import { type ReconcileEnd, runRecipe } from "../reconcile/run-recipe.ts";
import { StatusWriter } from "../reconcile/status-writer.ts";
import {
  fenceClient,
  ReconcileDeadlineError,
  type Scope,
  scopeOf,
  withDeadline,
} from "../reconcile/with-deadline.ts";
import type { ReadStore } from "../store/object-store.ts";
import { unreachable } from "../unreachable.ts";
import type { ControllerHost } from "./controller-host.ts";
import { type FollowedWatches, type Following, NotYetKnownError } from "./followed-watches.ts";

/** What the queue is to do with the key now. */
export type Next =
  /** `error`: it failed, and only a change of the spec can help. */
  | { readonly kind: "done"; readonly error?: unknown }
  | { readonly kind: "requeue" }
  | { readonly kind: "requeueAfter"; readonly delayMs: number }
  | { readonly kind: "backOff"; readonly atLeastMs: number; readonly error: unknown }
  /** Broken off because we stop or lost leadership; nothing is known. */
  | { readonly kind: "abandoned" };

/** What reconciles of one controller have in common. */
export interface ReconcilerSettings<Obj extends KubeObject, Seen, Action> {
  readonly name: string;
  readonly kind: Kind<Obj>;
  readonly recipe: Recipe<Obj, Seen, Action>;
  readonly host: ControllerHost;
  readonly deadlineMs: number;
  readonly writesStatus: boolean;
  readonly objects: ReadStore<Obj>;
  readonly storeOf: <O extends KubeObject>(kind: Kind<O>) => ReadStore<O>;
  readonly followed: FollowedWatches;
}

/** Runs single reconciles: recipe, deadline, status, log. Never throws. */
export class Reconciler<Obj extends KubeObject, Seen, Action> {
  readonly #settings: ReconcilerSettings<Obj, Seen, Action>;
  readonly #statuses: StatusWriter<Obj>;
  readonly #memories = new Memories();

  constructor(settings: ReconcilerSettings<Obj, Seen, Action>) {
    this.#settings = settings;
    this.#statuses = new StatusWriter(settings.kind, settings.name);
  }

  /** One reconcile over the object under the key. `term` aborts when we may no longer act. */
  async run(key: ObjectKey, term: AbortSignal): Promise<Next> {
    const object = this.#settings.objects.getByKey(key);
    if (object === undefined) {
      this.#drop(key);
      return { kind: "done" };
    }
    const log = this.#log(object);
    try {
      const end = await this.#runRecipe(object, log, term);
      return await this.#conclude(object, end, { log, term });
    } catch (error) {
      if (term.aborted) return { kind: "abandoned" };
      // The answer brings the object back; the delay is for a server that gives none.
      if (error instanceof NotYetKnownError) return { kind: "requeueAfter", delayMs: unansweredMs };
      return await this.#fail(object, error, { log, term });
    }
  }

  /** The object is gone for good. */
  forget({ metadata }: Live): void {
    this.#drop(keyOf(metadata));
    this.#statuses.forget(metadata.uid);
    this.#memories.forget(metadata.uid);
  }

  #drop(key: ObjectKey): void {
    this.#settings.followed.forget(key);
  }

  async #runRecipe(object: Live<Obj>, log: Log, term: AbortSignal): Promise<ReconcileEnd> {
    const { recipe, kind, host, deadlineMs, followed, objects } = this.#settings;
    const { system } = host;
    const isLatest = ({ metadata }: Live<Obj>): boolean =>
      objects.get(metadata)?.metadata.resourceVersion === metadata.resourceVersion;
    const following = followed.begin(keyOf(object.metadata));
    const end = await withDeadline(
      async (scope) => {
        const ctx = this.#context(object, { log, scope, following });
        return await runRecipe(recipe, object, { kind, ctx, system, isLatest });
      },
      { system, limitMs: deadlineMs, outer: term },
    );
    following.end();
    return end;
  }

  /** Only what was worked on gets a status: a claim is not yet work, and what is gone has none. */
  async #conclude(
    object: Live<Obj>,
    { stage, failure, ...end }: ReconcileEnd,
    parts: StatusParts,
  ): Promise<Next> {
    const { outcome } = end;
    switch (stage) {
      case "needsFinalizer":
        return { kind: "requeue" };
      case "finalized":
        return { kind: "done" };
      case "deleting":
        if (outcome.kind !== "settled") await this.#writeStatus(object, end, parts);
        return nextAfter(outcome);
      case "active":
        await this.#writeStatus(object, end, parts);
        if (failure === undefined) return nextAfter(outcome);
        return { kind: "backOff", atLeastMs: judgeFailure(failure).atLeastMs, error: failure };
      default:
        return unreachable(stage);
    }
  }

  async #fail(object: Live<Obj>, error: unknown, { log, term }: StatusParts): Promise<Next> {
    const { next, shown, atLeastMs, isBug } = judgeFailure(error);
    const code = classify(error);
    if (isBug) log.error("reconcile failed by a fault of ours", { code, err: error });
    else if (error instanceof ReconcileDeadlineError) log.warn("reconcile exceeded its deadline", { code });
    else if (shown === undefined) log.debug("reconcile will be repeated", { code, err: error });
    else log.warn("reconcile failed", { code, err: error });
    try {
      if (shown !== undefined)
        await this.#writeStatus(object, this.#failureEnd(object, shown), { log, term });
    } catch (statusError) {
      if (term.aborted) return { kind: "abandoned" };
      log.debug("status could not be written", { code: classify(statusError) });
      return { kind: "backOff", atLeastMs, error };
    }
    return next === "stay" ? { kind: "done", error } : { kind: "backOff", atLeastMs, error };
  }

  #failureEnd(object: Live<Obj>, outcome: Outcome): CleanUpEnd {
    const status = this.#settings.recipe.failureStatus?.(object, outcome);
    return status === undefined ? { outcome } : { outcome, status };
  }

  async #writeStatus(object: Live<Obj>, end: CleanUpEnd, { log, term }: StatusParts): Promise<void> {
    const { writesStatus, host, recipe } = this.#settings;
    const { outcome, status: content, conditions: updates = [] } = end;
    if (!writesStatus) return;
    const now = new Date(host.system.wallMs());
    const { conditionTypes: ownTypes = [] } = recipe;
    const wish = { outcome, content, updates, ownTypes, now };
    const isWritten = await this.#statuses.write(this.#client(scopeOf(term)), object, wish);
    if (isWritten) recipe.statusWritten?.(object, end, { log, events: this.#eventsOf(object) });
  }

  #eventsOf(object: Live<Obj>): ReconcileEvents {
    const { host, kind } = this.#settings;
    return {
      record: (event) => {
        host.recordEvent(kind, object, event);
      },
    };
  }

  #client(scope: Scope): Client {
    const { client, pool } = this.#settings.host;
    return fenceClient(client, {
      scope,
      onWritten: (kind, object) => {
        pool.noteWrite(kind, object);
      },
    });
  }

  #context(object: Live<Obj>, parts: ReconcileParts): Context {
    const { kind, storeOf } = this.#settings;
    // What a reconcile without writes never asks for is not made: client and signal cost more than the rest of it.
    let client: Client | undefined;
    const fenced = (): Client => {
      client ??= this.#client(parts.scope);
      return client;
    };
    return {
      get client() {
        return fenced();
      },
      log: parts.log,
      get signal() {
        return parts.scope.signal;
      },
      events: this.#eventsOf(object),
      store: storeOf,
      memory: (slot) => this.#memories.of(object, slot),
      apply: async (target, desired) => {
        const { namespace = object.metadata.namespace, name } = desired.metadata;
        const ref = target.scope === "Cluster" || namespace === undefined ? { name } : { name, namespace };
        return await applyOwned(target, desired, {
          client: fenced(),
          fieldManager: this.#settings.name,
          owner: object,
          isOwnerClusterWide: kind.scope === "Cluster",
          live: storeOf(target).get(ref),
          applied: this.#memories.of(object, appliedObjects),
        });
      },
      track: (request) => parts.following.track(request),
      follow: (target, ref, view) => {
        const { namespace } = object.metadata;
        const isHere = target.scope === "Namespaced" && namespace !== undefined;
        return parts.following.follow(target, isHere ? { namespace, ...ref } : ref, view);
      },
    };
  }

  #log({ metadata: { generation, name, namespace } }: Live<Obj>): Log {
    const { host, kind, name: controller } = this.#settings;
    const reconcileId = host.system.uuid();
    return host.log.with({ controller, kind: kind.kind, namespace, name, generation, reconcileId });
  }
}

/** A watch that is not answered by then is asked for again by the next reconcile. */
const unansweredMs = 30_000;

const appliedObjects = defineMemory<AppliedObjects>("applied objects", () => new Map());

interface StatusParts {
  readonly log: Log;
  /** Aborts when we may no longer act. */
  readonly term: AbortSignal;
}

interface ReconcileParts {
  readonly log: Log;
  readonly scope: Scope;
  readonly following: Following;
}

function nextAfter(outcome: Outcome): Next {
  switch (outcome.kind) {
    case "settled": {
      const { recheckAfterMs } = outcome;
      return recheckAfterMs === undefined
        ? { kind: "done" }
        : { kind: "requeueAfter", delayMs: recheckAfterMs };
    }
    case "held":
      return { kind: "done" };
    case "stalled":
      if (outcome.retryAfterMs === undefined) return { kind: "done" };
      return { kind: "requeueAfter", delayMs: outcome.retryAfterMs };
    case "waiting":
      return { kind: "requeueAfter", delayMs: outcome.retryAfterMs };
    default:
      return unreachable(outcome);
  }
}
