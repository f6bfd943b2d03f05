import { ApiError } from "../errors.ts";
import { isDeeperThan } from "../object/is-deeper-than.ts";
import { type Kind, nameOfKind } from "../object/kind.ts";
import { compareVersions } from "../object/kube-object.ts";
import type { System } from "../system/system.ts";
import { unreachable } from "../unreachable.ts";
import { BackOff } from "./back-off.ts";
import {
  decodeEvent,
  type DecodeOptions,
  FrameSplitter,
  type WatchEvent,
  withoutManagedFields,
} from "./decode-event.ts";
import { IdleGuard } from "./idle-guard.ts";
import { TurnBudget } from "./turn-budget.ts";
import type { WatchObserver, WatchSink, WatchSource } from "./watch-source.ts";
import { type Ending, endingOf, hasNoResponse, nextStep, type Step, type WatchState } from "./watch-state.ts";

export interface ReflectorOptions {
  readonly kind: Kind;
  readonly source: WatchSource;
  readonly sink: WatchSink;
  readonly system: System;
  readonly observer?: WatchObserver | undefined;
  readonly keepManagedFields?: boolean | undefined;
  /** Silence that means a dead connection (default: 85 s): a bookmark comes every minute, and a dead one is to be found within 90 s. */
  readonly idleMs?: number | undefined;
  /** How long to wait for a kind that is not served, given the growing delay (default: that, at most 30 s). Called before each pause. */
  readonly pendingMs?: ((backOffMs: number) => number) | undefined;
  /** Called on each change of state, with the error that caused it, if any. */
  readonly onState?: ((state: WatchState, error?: unknown) => void) | undefined;
}

/**
 * Keeps a sink equal to what the API server has: lists once, then follows the watch, resumes from the last resourceVersion
 * after any break, and lists again only when the server has forgotten that version. Never gives up until stopped.
 */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #decoding: DecodeOptions;
  readonly #relist: BackOff;
  readonly #reconnect: BackOff;
  readonly #untilServed: BackOff;
  #state: WatchState = "listing";
  #version = "";
  /** Stays so for the life of the reflector: a server that refuses WatchList will refuse it again. */
  #pagesOnly = false;
  #acceptsOlder = false;
  /** The last list expired between two pages: where that always happens, pages would never come to their end. */
  #hasExpired = false;
  /** The connection broke, so the server may be another one than before, with an older history. */
  #isInDoubt = false;
  #wake: (() => void) | undefined;
  #heardMs: number;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    const { kind, keepManagedFields = false, system } = options;
    this.#decoding = { keepManagedFields, kindName: nameOfKind(kind) };
    this.#heardMs = system.monotonicMs();
    this.#relist = new BackOff(system, { firstMs: 800, longestMs: 30_000 });
    this.#reconnect = new BackOff(system, { firstMs: 200, longestMs: 5_000 });
    this.#untilServed = new BackOff(system, { firstMs: 1_000, longestMs: 180_000 });
  }

  get state(): WatchState {
    return this.#state;
  }

  /** How long ago the server last sent anything, bookmarks included; since the start while it never has. */
  get silentMs(): number {
    return this.#options.system.monotonicMs() - this.#heardMs;
  }

  /** Runs until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    this.#options.onState?.(this.#state);
    while (!signal.aborted) {
      const found = await this.#attempt(signal);
      // Whatever broke then was broken by us: no failure is to be reported.
      const ending: Ending = signal.aborted ? { kind: "stopped" } : found;
      const step = nextStep(this.#state, ending);
      this.#note(ending);
      this.#enter(step, ending);
      await this.#pause(step, ending, signal);
    }
    this.#enter({ state: "stopped", pause: "none" }, { kind: "stopped" });
  }

  /** A kind that was not served may be served now: try immediately. */
  retryNow(): void {
    this.#untilServed.reset();
    this.#wake?.();
  }

  async #attempt(signal: AbortSignal): Promise<Ending> {
    if (this.#state === "pending") this.#state = "listing";
    const usesPages = this.#state === "listing" && this.#pagesOnly;
    try {
      return usesPages ? await this.#list(signal) : await this.#stream(signal);
    } catch (error) {
      const ending = endingOf(error, this.#state);
      this.#hasExpired = usesPages && ending.kind === "gone";
      // A 400 for a plain list is not about WatchList.
      return usesPages && ending.kind === "watchListRefused" ? { kind: "failed", error } : ending;
    }
  }

  async #list(signal: AbortSignal): Promise<Ending> {
    const { source, sink, system } = this.#options;
    const listing = source.list(signal, { isWhole: this.#hasExpired });
    const budget = new TurnBudget(system);
    sink.beginReplace({ acceptsOlder: this.#acceptsOlder });
    for await (const object of listing.objects) {
      const kept = this.#decoding.keepManagedFields ? object : withoutManagedFields(object);
      if (isDeeperThan(kept)) sink.quarantine(kept);
      else sink.upsert(kept);
      if (budget.isSpent()) await budget.renew();
    }
    this.#complete(listing.resourceVersion());
    return { kind: "listed" };
  }

  async #stream(signal: AbortSignal): Promise<Ending> {
    const { source, sink, system, idleMs = 85_000 } = this.#options;
    const isListing = this.#state === "listing";
    const limitMs = (): number => (this.#state === "listing" ? Math.min(idleMs, initialIdleMs) : idleMs);
    using guard = new IdleGuard(system, limitMs, signal);
    if (isListing) sink.beginReplace({ acceptsOlder: this.#acceptsOlder });
    try {
      const timeoutSeconds = 300 + Math.floor(system.random() * 301);
      const resourceVersion = isListing ? undefined : this.#version;
      if (!isListing) await this.#confirmVersion(guard.signal);
      const body = await source.open({ resourceVersion, timeoutSeconds, signal: guard.signal });
      return await this.#read(body, guard);
    } catch (error) {
      if (!guard.isIdle) throw error;
      // The same variable is "watching" by now when the initial events were complete.
      return { kind: this.#state === "listing" ? "watchListRefused" : "idle" };
    }
  }

  /** After a break: a watch from a version that the server has not reached would be silent and say nothing of it. */
  async #confirmVersion(signal: AbortSignal): Promise<void> {
    if (!this.#isInDoubt) return;
    try {
      await this.#options.source.confirmVersion?.(this.#version, signal);
    } catch (error) {
      if (hasNoResponse(error) || endingOf(error, this.#state).kind === "versionTooLarge") throw error;
      // Another response says nothing about the version; what is wrong will be shown by the watch.
    }
    this.#isInDoubt = false;
  }

  /** A stream that brought something shows a server in health: the next break counts as the first. */
  async #read(body: AsyncIterable<Uint8Array>, guard: IdleGuard): Promise<Ending> {
    const splitter = new FrameSplitter();
    const { system } = this.#options;
    const startMs = system.monotonicMs();
    const budget = new TurnBudget(system);
    for await (const chunk of body) {
      guard.touch();
      this.#heardMs = system.monotonicMs();
      for (const frame of splitter.frames(chunk)) {
        this.#take(frame);
        if (budget.isSpent()) await budget.renew();
      }
    }
    return { kind: "closed", isEarly: system.monotonicMs() - startMs < 1_000 };
  }

  /** Hands one event on. An error event is thrown: it ends the stream like a refused request. */
  #take(frame: string): void {
    const event = decodeEvent(frame, this.#decoding);
    const { sink } = this.#options;
    switch (event.kind) {
      case "changed":
        sink.upsert(event.object);
        this.#advance(event.object.metadata.resourceVersion);
        return;
      case "deleted":
        sink.remove(event.object);
        this.#advance(event.object.metadata.resourceVersion);
        return;
      case "tooDeep":
        sink.quarantine(event.object);
        this.#advance(event.object.metadata.resourceVersion);
        return;
      case "bookmark":
        this.#passBookmark(event);
        return;
      case "error":
        throw event.error;
      default:
        unreachable(event);
    }
  }

  /** The first bookmark ends the initial events; a server that sends another one first does not know of them. */
  #passBookmark({ resourceVersion, endsInitial }: Extract<WatchEvent, { kind: "bookmark" }>): void {
    if (this.#state !== "listing") this.#advance(resourceVersion);
    else if (endsInitial) this.#complete(resourceVersion);
    else throw unknownToServer(this.#decoding);
  }

  /** While listing, versions of single objects come in no order and say nothing of the whole. */
  #advance(version: string | undefined): void {
    if (this.#state !== "watching" || version === undefined) return;
    this.#version = version;
    this.#reconnect.reset();
    this.#options.sink.advance(version);
  }

  #complete(version: string): void {
    if (!this.#acceptsOlder && compareVersions(version, this.#version) < 0) throw setBack(this.#decoding);
    this.#version = version;
    this.#acceptsOlder = false;
    this.#hasExpired = false;
    this.#isInDoubt = false;
    this.#options.sink.endReplace(version);
    this.#enter({ state: "watching", pause: "none" }, { kind: "listed" });
  }

  /** Remembers what the ending says for later, and reports it to metrics. */
  #note(ending: Ending): void {
    this.#count(ending);
    if (ending.kind === "watchListRefused") this.#pagesOnly = true;
    if (ending.kind === "failed") this.#isInDoubt = true;
    if (ending.kind === "versionTooLarge") this.#acceptsOlder = true;
    if (ending.kind === "notServed") this.#options.sink.clear();
  }

  #count(ending: Ending): void {
    const { observer = {} } = this.#options;
    const kind = this.#decoding.kindName;
    if (ending.kind === "listed" || ending.kind === "stopped") return;
    observer.watchRestarted?.({ kind, why: ending.kind });
    if (ending.kind === "undecodable") observer.decodeFailed?.({ kind });
    const isRelist = this.#state === "watching" && nextStep("watching", ending).state === "listing";
    if (isRelist) observer.relisted?.({ kind });
  }

  #enter({ state }: Step, ending: Ending): void {
    const error = ending.kind === "failed" ? ending.error : undefined;
    if (state === this.#state && error === undefined) return;
    this.#state = state;
    this.#options.onState?.(state, error);
  }

  async #pause({ pause }: Step, ending: Ending, signal: AbortSignal): Promise<void> {
    if (pause === "none" || signal.aborted) return;
    const { system } = this.#options;
    const woken = new AbortController();
    this.#wake = () => {
      woken.abort();
    };
    try {
      const delayMs = Math.max(this.#delayMs(pause), requestedDelayMs(ending));
      await system.sleep(delayMs, AbortSignal.any([signal, woken.signal]));
    } catch (error) {
      if (!signal.aborted && !woken.signal.aborted) throw error;
    } finally {
      this.#wake = undefined;
    }
  }

  #delayMs(pause: Exclude<Step["pause"], "none">): number {
    if (pause === "untilServed") return this.#untilServedMs();
    return pause === "relist" ? this.#relist.nextMs() : this.#reconnect.nextMs();
  }

  #untilServedMs(): number {
    const { pendingMs = (backOffMs): number => Math.min(backOffMs, unaidedPendingMs) } = this.#options;
    return pendingMs(this.#untilServed.nextMs());
  }
}

/** Where no event announces a new kind, we poll. */
const unaidedPendingMs = 30_000;

/** The first events, or the bookmark that ends them, may take this long; then pages are requested instead. */
const initialIdleMs = 30_000;

/** A list shows the most recent state; one that is older than what we have seen means that a backup was restored. */
function setBack({ kindName }: DecodeOptions): ApiError {
  const facts = { class: "transient", reason: "ResourceVersionTooLarge", mayHaveActed: false } as const;
  return new ApiError(`list ${kindName}: older than what was seen before`, facts);
}

function unknownToServer({ kindName }: DecodeOptions): ApiError {
  const facts = { class: "invalid", reason: "NoInitialEvents", mayHaveActed: false } as const;
  return new ApiError(`watch ${kindName}: the server does not end the initial events`, facts);
}

function requestedDelayMs(ending: Ending): number {
  if (ending.kind !== "failed" || !(ending.error instanceof ApiError)) return 0;
  return ending.error.retryAfterMs ?? 0;
}
