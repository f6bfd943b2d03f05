import { classify } from "../errors.ts";
import { nameOfKind } from "../object/kind.ts";
import { asLive, keyOf, type KubeObject, type Live, type ObjectKey } from "../object/kube-object.ts";
import { mayMatch } from "../object/parse-label-selector.ts";
import { type Change, ObjectStore, type ReadStore } from "../store/object-store.ts";
import { StringPool } from "../store/string-pool.ts";
import type { System } from "../system/system.ts";
import { Reflector } from "../watch/reflector.ts";
import {
  namedAsItsKind,
  type WatchObserver,
  type WatchSink,
  type WatchSource,
  type WatchTarget,
} from "../watch/watch-source.ts";
import type { WatchState } from "../watch/watch-state.ts";
import type { InformerEvent, InformerHandler } from "./informer-event.ts";

/** How objects are kept. */
export interface View {
  /** Cuts an object down before it is stored; metadata must stay. The name tells projections of one kind apart. */
  readonly projection?: Projection | undefined;
  readonly isMetadataOnly?: boolean | undefined;
  readonly keepManagedFields?: boolean | undefined;
  /** Equal strings share memory. */
  readonly internStrings?: boolean | undefined;
}

export interface Projection {
  readonly name: string;
  readonly project: (object: Live) => KubeObject;
  /** Longer strings are not needed: they come empty from the watch, and are never held (default: none). */
  readonly textLimitBytes?: number | undefined;
}

/** Hooks for metrics and logs. */
export interface InformerObserver extends WatchObserver {
  handlerFailed?(event: { readonly kind: string; readonly error: unknown }): void;
  /** Once per object, until it is sound again. */
  quarantined?(event: { readonly target: WatchTarget; readonly object: KubeObject }): void;
  stateChanged?(event: { readonly kind: string; readonly state: WatchState; readonly error: unknown }): void;
}

export interface InformerOptions {
  readonly target: WatchTarget;
  readonly view: View;
  readonly source: WatchSource;
  readonly system: System;
  readonly observer: InformerObserver;
  readonly freeze: boolean;
  readonly idleMs?: number | undefined;
  /** See ReflectorOptions. */
  readonly pendingMs?: ((backOffMs: number) => number) | undefined;
}

/** One watch, its store, and those who want to hear of changes. */
export class Informer {
  readonly store: ReadStore;
  readonly #store: ObjectStore<KubeObject>;
  readonly #options: InformerOptions;
  readonly #reflector: Reflector;
  readonly #handlers = new Set<InformerHandler>();
  readonly #quarantined = new Map<ObjectKey, KubeObject>();
  readonly #strings: StringPool | undefined;
  readonly #mayMatch: (object: KubeObject) => boolean;
  readonly #stopping = new AbortController();
  readonly #synced = Promise.withResolvers<undefined>();
  #firstResponse = Promise.withResolvers<undefined>();
  #isDecided = false;
  #isRefused = false;
  #running: Promise<void> | undefined;
  #isReplacing = false;
  /** Of those left out, the ones that a new picture has not shown so far. */
  #unseen = new Set<ObjectKey>();

  constructor(options: InformerOptions) {
    this.#options = options;
    const { system, freeze, target, source, view, observer, idleMs, pendingMs } = options;
    this.#store = new ObjectStore({ system, freeze });
    this.store = this.#store;
    this.#strings = view.internStrings === true ? new StringPool() : undefined;
    this.#mayMatch = mayMatch(target);
    this.#reflector = new Reflector({
      kind: target.kind,
      source,
      sink: this.#sink(),
      system,
      observer,
      keepManagedFields: view.keepManagedFields ?? false,
      onState: (state, error) => {
        this.#changeState(state, error);
      },
      idleMs,
      pendingMs,
    });
  }

  get state(): WatchState {
    return this.#reflector.state;
  }

  /** How long ago the server last sent anything, bookmarks included. */
  get silentMs(): number {
    return this.#reflector.silentMs;
  }

  /** Resolves once the first picture is complete or the kind turned out not to be served. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Resolves as `synced` does, or when the server has refused the watch. */
  get firstResponse(): Promise<void> {
    return this.#firstResponse.promise;
  }

  /** Nothing is known of the kind's objects, because we may not watch them. */
  get isForbidden(): boolean {
    return this.#isRefused && !this.#store.isSynced;
  }

  start(): void {
    this.#running ??= this.#reflector.run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Objects that exist but are left out of the store, without their content. */
  get quarantined(): readonly KubeObject[] {
    return [...this.#quarantined.values()];
  }

  /** The kind may be served now, or we may watch it now: `firstResponse` waits for a new response then. */
  retryNow(): void {
    if (this.isForbidden && this.#isDecided) {
      // Never one with a waiting caller.
      this.#firstResponse = Promise.withResolvers<undefined>();
      this.#isDecided = false;
    }
    this.#reflector.retryNow();
  }

  /** Adds a handler and gives it what is there; returns how to take it off again. */
  addHandler(handler: InformerHandler): () => void {
    this.#handlers.add(handler);
    for (const object of this.#store.list())
      this.#deliver(handler, { type: "added", isInitial: true, new: object });
    return () => {
      this.#handlers.delete(handler);
    };
  }

  /**
   * The store returns this object until the watch delivers it. One that the selectors exclude and that does not exist
   * would stay until the next bookmark: the watch never delivers it.
   */
  noteWrite(object: KubeObject): void {
    if (!this.#mayMatch(object) && this.#store.get(object.metadata) === undefined) return;
    const prepared = this.#prepare(object);
    if (prepared !== undefined && this.#store.isSynced) this.#store.noteWrite(prepared);
  }

  #sink(): WatchSink {
    const store = this.#store;
    return {
      beginReplace: ({ acceptsOlder }) => {
        this.#isReplacing = true;
        this.#unseen = new Set(this.#quarantined.keys());
        store.beginReplace(acceptsOlder);
      },
      upsert: (object) => {
        const prepared = this.#prepare(object);
        if (prepared === undefined) this.#quarantine(object);
        else this.#take(prepared);
      },
      remove: (object) => {
        this.#quarantined.delete(keyOf(object.metadata));
        this.#publish(store.remove(this.#prepare(object) ?? object));
      },
      quarantine: (object) => {
        this.#quarantine(object);
      },
      endReplace: (version) => {
        this.#isReplacing = false;
        for (const key of this.#unseen) this.#quarantined.delete(key);
        for (const change of store.endReplace(version)) this.#publish(change);
        this.#settle();
      },
      advance: (version) => {
        store.advance(version);
      },
      clear: () => {
        this.#isReplacing = false;
        this.#quarantined.clear();
        for (const change of store.clear()) this.#publish(change);
      },
    };
  }

  #take(object: KubeObject): void {
    if (this.#quarantined.size > 0) this.#quarantined.delete(keyOf(object.metadata));
    this.#publish(this.#store.upsert(object));
  }

  /** Undefined when the projection cannot cope with the object. */
  #prepare(object: KubeObject): KubeObject | undefined {
    const { target, view, observer } = this.#options;
    this.#strings?.intern(object);
    const named = view.isMetadataOnly === true ? namedAsItsKind(object, target.kind) : object;
    if (view.projection === undefined) return named;
    try {
      return view.projection.project(asLive(named));
    } catch (error) {
      observer.handlerFailed?.({ kind: nameOfKind(target.kind), error });
      return undefined;
    }
  }

  #quarantine(object: KubeObject): void {
    const { observer, target } = this.#options;
    const { apiVersion, kind, metadata } = object;
    const shell = { apiVersion, kind, metadata };
    this.#publish(this.#store.remove(shell));
    const key = keyOf(metadata);
    const isKnown = this.#quarantined.has(key);
    this.#unseen.delete(key);
    this.#quarantined.set(key, shell);
    if (!isKnown) observer.quarantined?.({ target, object: shell });
  }

  #publish(change: Change<KubeObject> | undefined): void {
    if (change === undefined || this.#handlers.size === 0) return;
    const event = eventOf(change, this.#isReplacing);
    for (const handler of this.#handlers) this.#deliver(handler, event);
  }

  #deliver(handler: InformerHandler, event: InformerEvent): void {
    try {
      handler(event);
    } catch (error) {
      this.#options.observer.handlerFailed?.({ kind: nameOfKind(this.#options.target.kind), error });
    }
  }

  #changeState(state: WatchState, error: unknown): void {
    if (state === "pending" || state === "stopped") this.#settle();
    if (classify(error) === "forbidden") this.#noteRefusal();
    this.#options.observer.stateChanged?.({ kind: nameOfKind(this.#options.target.kind), state, error });
  }

  #settle(): void {
    this.#isRefused = false;
    this.#synced.resolve(undefined);
    this.#response();
  }

  /** Holds until a picture is there or the kind no longer exists: trouble of another sort in between says nothing about rights. */
  #noteRefusal(): void {
    this.#isRefused = true;
    this.#response();
  }

  #response(): void {
    this.#isDecided = true;
    this.#firstResponse.resolve(undefined);
  }
}

function eventOf(change: Change<KubeObject>, isInitial: boolean): InformerEvent {
  return change.type === "deleted" ? { ...change, isInitial: false } : { ...change, isInitial };
}
