import type { Client } from "../client/client.ts";
import { classify, type ErrorClass } from "../errors.ts";
import type { Log } from "../reconcile/log.ts";
import { pause } from "../system/pause.ts";
import type { System } from "../system/system.ts";
import { BackOff } from "../watch/back-off.ts";
import { eventFor, eventKind, type Occurrence, type Reporter } from "./event-object.ts";
import { SeriesBook, type SeriesWrite } from "./series-book.ts";

/** Hooks for metrics. */
export interface EventObserver {
  eventDropped?(event: { readonly why: "full" | "refused" }): void;
}

export interface EventRecorderOptions {
  readonly client: Client;
  readonly system: System;
  readonly log: Log;
  readonly reporter: Reporter;
  readonly observer?: EventObserver;
  /** Events that may wait to be sent; more are dropped (default: 1,000). */
  readonly limit?: number;
}

const triesPerEvent = 12;

/** How often series are looked through for ones that ended or need a refresh. */
const sweepMs = 60_000;

/**
 * Writes events beside the work: recording never waits and never fails. Equal events become one with a series. When the
 * server refuses, or more come than can be sent, events are dropped and counted.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #series: SeriesBook;
  readonly #outbox: SeriesWrite[] = [];
  readonly #stopping = new AbortController();
  #sending: Promise<void> | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#series = new SeriesBook();
  }

  /** Takes note of something that happened. */
  record(occurrence: Occurrence): void {
    if (this.#stopping.signal.aborted) return;
    const { system, reporter } = this.#options;
    const wallMs = system.wallMs();
    const make = (): SeriesWrite["event"] =>
      eventFor(occurrence, reporter, { suffix: system.uuid().replaceAll("-", "").slice(0, 16), wallMs });
    const write = this.#series.note(occurrence, { make, wallMs, monotonicMs: system.monotonicMs() });
    if (write !== undefined) this.#post(write);
  }

  /** Sends what is still owed for as long as the signal lasts, and then nothing more. */
  async stop(signal: AbortSignal): Promise<void> {
    for (const write of this.#series.close()) this.#post(write);
    const giveUp = (): void => {
      this.#stopping.abort();
    };
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    await this.#sending;
    signal.removeEventListener("abort", giveUp);
    giveUp();
  }

  /** Checks the series until the signal aborts; no other timer is needed. */
  async keepSeries(signal: AbortSignal): Promise<void> {
    const { system } = this.#options;
    while (!signal.aborted) {
      try {
        await system.sleep(sweepMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      for (const write of this.#series.sweep(system.monotonicMs())) this.#post(write);
    }
  }

  #post(write: SeriesWrite): void {
    const { limit = 1_000, observer } = this.#options;
    if (this.#outbox.length >= limit) {
      observer?.eventDropped?.({ why: "full" });
      return;
    }
    this.#outbox.push(write);
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    for (let write = this.#outbox.shift(); write !== undefined; write = this.#outbox.shift()) {
      if (this.#stopping.signal.aborted) break;
      await this.#deliver(write);
    }
    this.#sending = undefined;
  }

  async #deliver(write: SeriesWrite): Promise<void> {
    const backOff = new BackOff(this.#options.system, { firstMs: 500, longestMs: 10_000 });
    for (let attempt = 1; attempt <= triesPerEvent; attempt += 1) {
      const failure = await this.#try(write);
      if (failure === undefined || this.#stopping.signal.aborted) return;
      if (!passing.has(failure) || attempt === triesPerEvent) break;
      if (!(await pause(this.#options.system, backOff.nextMs(), this.#stopping.signal))) return;
    }
    this.#options.observer?.eventDropped?.({ why: "refused" });
  }

  async #try(write: SeriesWrite): Promise<ErrorClass | undefined> {
    try {
      if (write.isNew || !(await this.#continue(write))) await this.#create(write);
      return undefined;
    } catch (error) {
      const failure = classify(error);
      this.#options.log.debug("event could not be written", { code: failure });
      return failure;
    }
  }

  async #create({ event, series }: SeriesWrite): Promise<void> {
    const whole = series === undefined ? event : { ...event, series: series() };
    await this.#options.client.create(eventKind, whole, { signal: this.#stopping.signal });
  }

  /** False when the event no longer exists: it expired, was deleted, or was never accepted. */
  async #continue({ event, series }: SeriesWrite): Promise<boolean> {
    const patch = { kind: "merge", body: { series: series?.() } } as const;
    try {
      await this.#options.client.patch(eventKind, event.metadata, { patch, signal: this.#stopping.signal });
      return true;
    } catch (error) {
      if (classify(error) !== "notFound") throw error;
      return false;
    }
  }
}

const passing: ReadonlySet<ErrorClass> = new Set(["transient", "timeout", "tooManyRequests"]);
