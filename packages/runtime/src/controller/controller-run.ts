import { classify } from "../errors.ts";
import type { Kind } from "../object/kind.ts";
import { keyOf, type KubeObject, type ObjectRef } from "../object/kube-object.ts";
import { WorkQueue } from "../queue/work-queue.ts";
import { ReconcileDeadlineError } from "../reconcile/deadlines.ts";
import { unreachable } from "../unreachable.ts";
import type { RecipeDefinition } from "./controller-definition.ts";
import { type ControllerHost, queueObserverFor, type ReconcileRecord } from "./controller-host.ts";
import { type Next, Reconciler } from "./reconciler.ts";
import { Reenqueuer } from "./reenqueuer.ts";
import { runSignals, type Signals } from "./run-signals.ts";
import { defaultResyncMs, runSlowResync } from "./run-slow-resync.ts";
import { SourceSet } from "./source-set.ts";

/** When to work. */
export interface Term {
  /** Aborts when no more keys are to be taken. */
  readonly taking: AbortSignal;
  /** Aborts when nothing may be written any more; running reconciles are broken off. */
  readonly acting: AbortSignal;
}

/** A controller as plain data. */
export interface ControllerReport {
  readonly name: string;
  /** Keys that wait for a worker. */
  readonly queued: number;
  /** Reconciler in progress. */
  readonly active: number;
  /** Kinds that it may not watch: until it may, it does not work. */
  readonly forbidden: readonly string[];
}

/** A controller with its informers, its queue and its workers. Informers start immediately, so that a stand-by is warm. */
export class ControllerRun<Obj extends KubeObject, Seen, Action> {
  readonly name: string;
  readonly #concurrency: number;
  readonly #resyncMs: number;
  readonly #host: ControllerHost;
  readonly #queue: WorkQueue;
  readonly #sources: SourceSet<Obj>;
  readonly #reconciler: Reconciler<Obj, Seen, Action>;
  readonly #reenqueuer: Reenqueuer;
  readonly #signals: Signals | undefined;
  #active = 0;

  constructor(
    kind: Kind<Obj>,
    definition: RecipeDefinition<Obj, Seen, Action> & { readonly name: string },
    host: ControllerHost,
  ) {
    const {
      name,
      recipe,
      deadlineMs = 60_000,
      writesStatus = true,
      retry = {},
      concurrency = 4,
    } = definition;
    this.name = name;
    this.#concurrency = concurrency;
    this.#resyncMs = definition.resyncMs ?? defaultResyncMs;
    this.#host = host;
    this.#queue = new WorkQueue({
      system: host.system,
      observer: queueObserverFor(name, host.observer),
      retry,
    });
    this.#sources = new SourceSet(kind, definition, host.pool);
    const { followed, own } = this.#sources;
    const storeOf = this.#sources.storeOf.bind(this.#sources);
    const shared = { name, kind, recipe, host, followed, storeOf };
    this.#reconciler = new Reconciler({ ...shared, deadlineMs, writesStatus, objects: own.store });
    this.#reenqueuer = new Reenqueuer(host.system, (key) => {
      this.#queue.add(key);
    });
    this.#signals = definition.signals;
    this.#sources.wire({
      reenqueuer: this.#reenqueuer,
      enqueue: (key, priority, afterMs = 0) => {
        this.#queue.add(key, { priority, afterMs });
      },
      onDeleted: (object) => {
        this.#reconciler.forget(object);
      },
    });
  }

  /** Resolves once every informer has its first picture, or its kind is not served. */
  async settled(): Promise<void> {
    await this.#sources.settled();
  }

  /** Resolves as `settled` does, or once the server has refused the watch of one of its kinds. */
  async responded(): Promise<void> {
    await this.#sources.responded();
  }

  /** Works until the term's end; resolves when the last reconcile is over. Never rejects. */
  async work(term: Term): Promise<void> {
    const workers = Array.from({ length: this.#concurrency }, async () => await this.#worker(term));
    await Promise.all([...workers, this.#resync(term.taking), this.#runSignals(term.taking)]);
  }

  /** Gives the informers back. */
  async stop(): Promise<void> {
    this.#reenqueuer[Symbol.dispose]();
    this.#reconciler[Symbol.dispose]();
    this.#queue.close();
    await this.#sources.release();
  }

  /** As plain data. */
  report(): ControllerReport {
    const { forbidden } = this.#sources;
    return { name: this.name, queued: this.#queue.depth, active: this.#active, forbidden };
  }

  /** With low priority: whatever people do now comes first. */
  async #resync(signal: AbortSignal): Promise<void> {
    const { store } = this.#sources.own;
    await runSlowResync(
      {
        system: this.#host.system,
        everyMs: this.#resyncMs,
        keys: () => store.list().map(({ metadata }) => keyOf(metadata)),
        enqueue: (key) => {
          this.#queue.add(key, { priority: "low" });
        },
      },
      signal,
    );
  }

  async #runSignals(signal: AbortSignal): Promise<void> {
    if (this.#signals === undefined) return;
    const { system, log } = this.#host;
    const wake = (ref: ObjectRef): void => {
      this.#queue.add(keyOf(ref));
    };
    await runSignals(this.#signals, { wake, system, log: log.with({ controller: this.name }) }, signal);
  }

  async #worker({ taking, acting }: Term): Promise<void> {
    for (let key = await this.#queue.take(taking); key !== undefined; key = await this.#queue.take(taking)) {
      this.#count(1);
      const startMs = this.#host.system.monotonicMs();
      const next = await this.#reconciler.run(key, acting);
      this.#order(key, next);
      this.#queue.done(key);
      this.#record(next, startMs);
      this.#count(-1);
    }
  }

  #order(key: string, next: Next): void {
    if (next.kind !== "backOff" && next.kind !== "abandoned") this.#queue.forget(key);
    switch (next.kind) {
      case "done":
        return;
      case "requeue":
      case "abandoned":
        this.#queue.add(key);
        return;
      case "requeueAfter":
        this.#queue.add(key, { afterMs: next.delayMs });
        return;
      case "backOff":
        this.#queue.retry(key, next.atLeastMs);
        return;
      default:
        unreachable(next);
    }
  }

  #record(next: Next, startMs: number): void {
    const durationMs = this.#host.system.monotonicMs() - startMs;
    this.#host.observer.reconcileFinished?.({ controller: this.name, durationMs, ...resultOf(next) });
  }

  #count(change: number): void {
    this.#active += change;
    this.#host.observer.activeWorkers?.({ controller: this.name, count: this.#active });
  }
}

function resultOf(next: Next): Pick<ReconcileRecord, "result" | "errorClass" | "isDeadline" | "isTerminal"> {
  switch (next.kind) {
    case "done":
      if (next.error === undefined) return { result: "success" };
      return { result: "error", errorClass: classify(next.error), isTerminal: true };
    case "requeue":
    case "abandoned":
      return { result: "requeue" };
    case "requeueAfter":
      return { result: "requeue_after" };
    case "backOff": {
      const { error } = next;
      return {
        result: "error",
        errorClass: classify(error),
        isDeadline: error instanceof ReconcileDeadlineError,
      };
    }
    default:
      return unreachable(next);
  }
}
