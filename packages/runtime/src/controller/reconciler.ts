import { classify } from "../errors.ts";
import type { Kind } from "../object/kind.ts";
import { keyOf, type KubeObject, type Live, type ObjectKey } from "../object/kube-object.ts";
import { Deadlines, ReconcileDeadlineError, scopeOf } from "../reconcile/deadlines.ts";
import { Memories } from "../reconcile/define-memory.ts";
import { judgeFailure } from "../reconcile/judge-failure.ts";
import { LazyLog, type Log } from "../reconcile/log.ts";
import type { CleanUpEnd, Outcome } from "../reconcile/outcome.ts";
import { type ReconcileEnd, RecipeRunner } from "../reconcile/recipe-runner.ts";
import type { Recipe, ReconcileEvents } from "../reconcile/recipe.ts";
import { StatusWriter } from "../reconcile/status-writer.ts";
import type { ReadStore } from "../store/object-store.ts";
import { unreachable } from "../unreachable.ts";
import type { ControllerHost } from "./controller-host.ts";
import { type FollowedWatches, NotYetKnownError } from "./followed-watches.ts";
import { clientWithin, type ContextSettings, ReconcileContext } from "./reconcile-context.ts";

export type Next =
  /** `error`: it failed, and only a change of the spec can help. */
  | { readonly kind: "done"; readonly error?: unknown }
  | { readonly kind: "requeue" }
  | { readonly kind: "requeueAfter"; readonly delayMs: number }
  | { readonly kind: "backOff"; readonly atLeastMs: number; readonly error: unknown }
  /** Broken off because we stop or lost leadership; nothing is known. */
  | { readonly kind: "abandoned" };

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
export class Reconciler<Obj extends KubeObject, Seen, Action> implements Disposable {
  readonly #settings: ReconcilerSettings<Obj, Seen, Action>;
  readonly #statuses: StatusWriter<Obj>;
  readonly #memories = new Memories();
  readonly #contexts: ContextSettings;
  readonly #deadlines: Deadlines;
  readonly #runner: RecipeRunner<Obj, Seen, Action>;

  constructor(settings: ReconcilerSettings<Obj, Seen, Action>) {
    this.#settings = settings;
    const { name, kind, recipe, host, deadlineMs, objects, storeOf, followed } = settings;
    const { system } = host;
    this.#statuses = new StatusWriter(kind, name);
    this.#contexts = { name, kind, host, storeOf, followed, memories: this.#memories };
    this.#deadlines = new Deadlines({ system, limitMs: deadlineMs });
    const isLatest = ({ metadata }: Live<Obj>): boolean =>
      objects.get(metadata)?.metadata.resourceVersion === metadata.resourceVersion;
    this.#runner = new RecipeRunner(recipe, { kind, system, isLatest });
  }

  /** No reconcile is begun any more. */
  [Symbol.dispose](): void {
    this.#deadlines[Symbol.dispose]();
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
      const end = await this.#runRecipe(key, object, { log, term });
      if (isReported(end)) await this.#writeStatus(object, end, { log, term });
      return nextAfter(end);
    } catch (error) {
      if (term.aborted) return { kind: "abandoned" };
      // The response brings the object back; the delay is for a server that gives none.
      if (error instanceof NotYetKnownError) return { kind: "requeueAfter", delayMs: silentAfterMs };
      return await this.#fail(object, error, { log, term });
    }
  }

  /** The object no longer exists for good. */
  forget({ metadata }: Live): void {
    this.#drop(keyOf(metadata));
    this.#statuses.forget(metadata.uid);
    this.#memories.forget(metadata.uid);
  }

  #drop(key: ObjectKey): void {
    this.#settings.followed.forget(key);
  }

  async #runRecipe(key: ObjectKey, object: Live<Obj>, { log, term }: StatusOptions): Promise<ReconcileEnd> {
    using scope = this.#deadlines.begin(term);
    const following = this.#settings.followed.begin(key);
    const ctx = new ReconcileContext(this.#contexts, { object, log, scope, following });
    const end = await scope.orBrokenOff(this.#runner.run(object, ctx));
    following.end();
    return end;
  }

  async #fail(object: Live<Obj>, error: unknown, { log, term }: StatusOptions): Promise<Next> {
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
    return next === "stay" ? nextAfterStay(shown, error) : { kind: "backOff", atLeastMs, error };
  }

  #failureEnd(object: Live<Obj>, outcome: Outcome): CleanUpEnd {
    const status = this.#settings.recipe.failureStatus?.(object, outcome);
    return status === undefined ? { outcome } : { outcome, status };
  }

  async #writeStatus(object: Live<Obj>, end: CleanUpEnd, { log, term }: StatusOptions): Promise<void> {
    const { writesStatus, host, recipe } = this.#settings;
    const { outcome, status: content, conditions: updates = [] } = end;
    if (!writesStatus) return;
    const now = new Date(host.system.wallMs());
    const { conditionTypes: ownTypes = [] } = recipe;
    const overrides = { outcome, content, updates, ownTypes, now };
    const isWritten = await this.#statuses.write(clientWithin(host, scopeOf(term)), object, overrides);
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

  #log({ metadata: { generation, name, namespace } }: Live<Obj>): Log {
    const { host, kind, name: controller } = this.#settings;
    return new LazyLog(host.log, () => {
      const reconcileId = host.system.uuid();
      return { controller, kind: kind.kind, namespace, name, generation, reconcileId };
    });
  }
}

/** A watch without a response by then is requested again by the next reconcile. */
const silentAfterMs = 30_000;

interface StatusOptions {
  readonly log: Log;
  /** Aborts when we may no longer act. */
  readonly term: AbortSignal;
}

/** Only what was worked on gets a status: a claim is not yet work, and what no longer exists has none. */
function isReported({ stage, outcome }: ReconcileEnd): boolean {
  return stage === "active" || (stage === "deleting" && outcome.kind !== "settled");
}

function nextAfter({ stage, outcome, failure }: ReconcileEnd): Next {
  switch (stage) {
    case "needsFinalizer":
      return { kind: "requeue" };
    case "finalized":
      return { kind: "done" };
    case "deleting":
      return nextAfterOutcome(outcome);
    case "active":
      if (failure === undefined) return nextAfterOutcome(outcome);
      return { kind: "backOff", atLeastMs: judgeFailure(failure).atLeastMs, error: failure };
    default:
      return unreachable(stage);
  }
}

/** Only a change of the spec can help, unless the outcome says when to reconcile again. */
function nextAfterStay(shown: Outcome | undefined, error: unknown): Next {
  const delayMs = shown?.kind === "stalled" ? shown.retryAfterMs : undefined;
  return delayMs === undefined ? { kind: "done", error } : { kind: "requeueAfter", delayMs };
}

function nextAfterOutcome(outcome: Outcome): Next {
  switch (outcome.kind) {
    case "settled":
    case "held": {
      const { recheckAfterMs } = outcome;
      return recheckAfterMs === undefined
        ? { kind: "done" }
        : { kind: "requeueAfter", delayMs: recheckAfterMs };
    }
    case "stalled":
      if (outcome.retryAfterMs === undefined) return { kind: "done" };
      return { kind: "requeueAfter", delayMs: outcome.retryAfterMs };
    case "waiting":
      return { kind: "requeueAfter", delayMs: outcome.retryAfterMs };
    default:
      return unreachable(outcome);
  }
}
