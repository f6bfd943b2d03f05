import type { Client } from "../client/client.ts";
import { createClient } from "../client/create-client.ts";
import type { ControllerHost } from "../controller/controller-host.ts";
import type { Term } from "../controller/controller-run.ts";
import type { LaunchedController } from "../controller/define-controller.ts";
import { classify } from "../errors.ts";
import { subjectOf } from "../events/event-object.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { InformerPool } from "../informers/informer-pool.ts";
import { guardWrites } from "../leader/guard-writes.ts";
import { alwaysLeader, type LeaderElector } from "../leader/leader-elector.ts";
import { type Log, silentLog } from "../reconcile/log.ts";
import { finishesWithin } from "../system/finishes-within.ts";
import { informerObserverFor, leftOut } from "./informer-observer-for.ts";
import type { Manager, ManagerHealth, ManagerOptions } from "./manager.ts";
import { offEvent, type OffPart, offParts } from "./off-parts.ts";
import { noTelemetry, type Telemetry } from "./telemetry.ts";

/** The part of the grace period for events, the lease and the watches. */
const tailMs = 5_000;

/** The life of a manager: launch, lead, work, stop. */
export class ManagerRun implements Manager {
  readonly informers: InformerPool;
  readonly #options: ManagerOptions;
  readonly #log: Log;
  readonly #telemetry: Telemetry;
  readonly #client: Client;
  readonly #events: EventRecorder;
  readonly #electing = new AbortController();
  readonly #background: Promise<void>[] = [];
  #launched: readonly LaunchedController[] = [];
  #term: { readonly taking: AbortController; readonly acting: AbortController } | undefined;
  #working: Promise<unknown> = Promise.resolve();
  #settled: Promise<void> | undefined;
  readonly #reportedOff = new Set<string>();
  #isReady = false;
  #stopped: Promise<void> | undefined;

  constructor(options: ManagerOptions) {
    this.#options = options;
    const {
      transport,
      system,
      log = silentLog,
      telemetry = noTelemetry,
      name = "quartermaster",
      idleMs,
    } = options;
    this.#log = log;
    this.#telemetry = telemetry;
    this.#client = withFence(options.client ?? createClient({ transport }), options.leaderElection);
    const reporter = { controller: name, instance: options.instance ?? name };
    this.#events = new EventRecorder({ client: this.#client, system, log, reporter, observer: telemetry });
    this.informers = new InformerPool({
      transport,
      system,
      observer: informerObserverFor({
        telemetry,
        log,
        // A stand-by may not write; it reports when it leads.
        record: (occurrence) => {
          if (this.#term !== undefined) this.#events.record(occurrence);
        },
        refused: () => {
          this.#reportOff();
        },
      }),
      freeze: options.freeze ?? system.env["NODE_ENV"] === "test",
      idleMs,
    });
  }

  start(): void {
    if (this.#settled !== undefined) return;
    const { controllers, leaderElection = alwaysLeader } = this.#options;
    this.#launched = controllers.map((controller) => controller.launch(this.#host()));
    this.#settled = this.#settle();
    const { signal } = this.#electing;
    this.#background.push(
      this.#settled,
      this.#elect(leaderElection, signal),
      this.#events.keepSeries(signal),
    );
  }

  async ready({ timeoutMs = 120_000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    this.start();
    const isDone = await finishesWithin(this.#settled ?? Promise.resolve(), this.#options.system, timeoutMs);
    if (!isDone) throw new DOMException(`stores were not filled within ${timeoutMs} ms`, "TimeoutError");
  }

  health(): ManagerHealth {
    return {
      isReady: this.#isReady && this.#stopped === undefined,
      isLeading: this.#term !== undefined,
      isStopping: this.#stopped !== undefined,
      informers: this.informers.report(),
      controllers: this.#launched.map((controller) => controller.report()),
      off: this.#off(),
    };
  }

  async stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    await this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #host(): ControllerHost {
    return {
      pool: this.informers,
      client: this.#client,
      system: this.#options.system,
      log: this.#log,
      observer: this.#telemetry,
      recordEvent: (kind, object, event) => {
        this.#events.record({ subject: subjectOf(kind, object), ...event });
      },
    };
  }

  /** After an election that fails for good, the replica is a stand-by, which health shows. */
  async #elect(elector: LeaderElector, signal: AbortSignal): Promise<void> {
    const lead = (): void => {
      this.#lead();
    };
    const yieldLead = (): void => {
      this.#yieldLead();
    };
    try {
      await elector.run(signal, lead, yieldLead);
    } catch (error) {
      this.#log.error("leader election ended", { code: classify(error), err: error });
      yieldLead();
    }
  }

  #off(): readonly OffPart[] {
    return offParts(
      this.#options.controllers,
      this.#launched.map((controller) => controller.report()),
    );
  }

  /** Once for each cause in a term: a watch that is refused is tried again and again. */
  #reportOff(): void {
    const { pod } = this.#options;
    for (const part of this.#off()) {
      if (this.#term === undefined || this.#reportedOff.has(part.message)) continue;
      this.#reportedOff.add(part.message);
      this.#log.warn("domain is off", { domain: part.name, message: part.message });
      if (pod !== undefined) this.#events.record(offEvent(pod, part));
    }
  }

  /** Watches that are refused are not waited for: the parts that need it are off, and the others may be sent work. */
  async #settle(): Promise<void> {
    for (const controller of this.#launched) await controller.responded();
    this.#isReady = true;
    this.#log.info("stores are filled", { kinds: this.informers.report().map(({ kind }) => kind) });
  }

  /** Each controller begins as soon as its own stores are filled; one that waits does not hold up the others. */
  #lead(): void {
    if (this.#term !== undefined || this.#stopped !== undefined) return;
    const controllers = { taking: new AbortController(), acting: new AbortController() };
    const term: Term = { taking: controllers.taking.signal, acting: controllers.acting.signal };
    this.#term = controllers;
    this.#telemetry.leading?.({ isLeading: true });
    this.#log.info("leading");
    for (const { kind, object } of this.informers.quarantined()) this.#events.record(leftOut(kind, object));
    this.#reportedOff.clear();
    this.#reportOff();
    const before = this.#working;
    this.#working = Promise.all(
      this.#launched.map(async (controller) => {
        await Promise.all([before, controller.settled()]);
        await controller.work(term);
      }),
    );
  }

  /** Nothing may be written from this moment on. */
  #yieldLead(): void {
    if (this.#term === undefined) return;
    this.#term.taking.abort();
    this.#term.acting.abort();
    this.#term = undefined;
    this.#telemetry.leading?.({ isLeading: false });
    this.#log.info("no longer leading");
  }

  async #stop(): Promise<void> {
    const { system, graceMs = 30_000 } = this.#options;
    const endMs = system.monotonicMs() + graceMs;
    const leftMs = (): number => Math.max(0, endMs - system.monotonicMs());
    this.#log.info("stopping");
    this.#term?.taking.abort();
    const isFinished = await finishesWithin(this.#working, system, Math.max(0, leftMs() - tailMs));
    if (!isFinished) this.#log.warn("running reconciles are broken off");
    this.#term?.acting.abort();
    await finishesWithin(this.#working, system, leftMs());
    await this.#stopEvents(Math.min(2_000, leftMs()));
    this.#electing.abort();
    const controllers = this.#launched.map(async (controller) => await controller.stop());
    const pool = this.informers[Symbol.asyncDispose]();
    await finishesWithin(Promise.all([...this.#background, ...controllers, pool]), system, leftMs());
    this.#log.info("stopped");
  }

  async #stopEvents(limitMs: number): Promise<void> {
    const limit = new AbortController();
    const timer = this.#options.system.setTimer(limitMs, () => {
      limit.abort();
    });
    await this.#events.stop(limit.signal);
    timer.cancel();
  }
}

/** No write is sent without the lease, regardless of the caller. */
function withFence(client: Client, elector: LeaderElector | undefined): Client {
  if (elector?.writeBudgetMs === undefined) return client;
  return guardWrites(client, { writeBudgetMs: () => elector.writeBudgetMs?.() ?? 0 });
}
