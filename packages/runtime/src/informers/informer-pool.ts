import { classify } from "../errors.ts";
import { type Kind, nameOfKind } from "../object/kind.ts";
import type { KubeObject, Live } from "../object/kube-object.ts";
import type { ReadStore } from "../store/object-store.ts";
import type { System } from "../system/system.ts";
import type { Transport } from "../transport/transport.ts";
import { transportSource, type WatchSource, type WatchTarget } from "../watch/watch-source.ts";
import type { WatchState } from "../watch/watch-state.ts";
import { concerns, type Definition, definitionNames, definitions, isDefinitionOf } from "./definitions.ts";
import type { InformerHandler } from "./informer-event.ts";
import { Informer, type InformerObserver, type View } from "./informer.ts";

/** Which objects to have at hand, and how much of each. */
export interface InformerRequest<O extends KubeObject = KubeObject> extends View, Omit<WatchTarget, "kind"> {
  readonly kind: Kind<O>;
  /** Nothing but a CustomResourceDefinition brings the kind, so while there is none the server is not queried (default: it may be aggregated). */
  readonly isDefined?: boolean | undefined;
}

/** A share in an informer. Giving back the last one stops it. */
export interface InformerHandle<O extends KubeObject = KubeObject> extends AsyncDisposable {
  readonly store: ReadStore<O>;
  readonly state: WatchState;
  /** How long ago the server last sent anything, bookmarks included, which come every minute. */
  readonly silentMs: number;
  /** Resolves once the first picture is complete or the kind turned out not to be served. */
  readonly synced: Promise<void>;
  /** Resolves as `synced` does, or when the server has refused the watch. */
  readonly firstResponse: Promise<void>;
  /** Nothing is known of the kind's objects, because we may not watch them. */
  readonly isForbidden: boolean;
  /** Tries again: a kind that was not served or forbidden may be watchable now. */
  retryNow(): void;
  /** Gives the handler what is there, then every change; taken off when the share is given back. */
  addHandler(handler: InformerHandler<O>): void;
}

/** One informer as plain data. */
export interface InformerReport {
  readonly kind: string;
  readonly state: WatchState;
  readonly isSynced: boolean;
  readonly objects: number;
}

export interface InformerPoolOptions {
  readonly transport: Transport;
  readonly system: System;
  readonly observer?: InformerObserver | undefined;
  /** Deep-freezes what is stored (default: off). */
  readonly freeze?: boolean | undefined;
  /** See ReflectorOptions. */
  readonly idleMs?: number | undefined;
  /** Where an informer gets its objects from (default: the transport). */
  readonly sourceOf?: ((target: WatchTarget) => WatchSource) | undefined;
}

/** An informer with the number of those who want it. */
class Shared {
  readonly informer: Informer;
  readonly kind: Kind;
  readonly #namespace: string | undefined;
  #holders = 0;

  constructor(informer: Informer, { kind, namespace }: InformerRequest) {
    this.informer = informer;
    this.kind = kind;
    this.#namespace = namespace;
  }

  /** Whether an object of the kind can be among its own at all; a selector may still leave it out. */
  mayHold({ group, version, plural }: Kind, { metadata }: KubeObject): boolean {
    const isOfKind =
      this.kind.plural === plural && this.kind.group === group && this.kind.version === version;
    return isOfKind && (this.#namespace === undefined || this.#namespace === metadata.namespace);
  }

  take(): void {
    this.#holders += 1;
  }

  /** True when no one wants it any more. */
  giveBack(): boolean {
    this.#holders -= 1;
    return this.#holders <= 0;
  }
}

/** Informers that are shared by all who want the same objects in the same way, and live as long as one of them is left. */
export class InformerPool implements AsyncDisposable {
  readonly #options: InformerPoolOptions;
  readonly #shared = new Map<string, Shared>();
  /** Without a handle: we may not watch them. */
  #definitions: { readonly handle?: InformerHandle<Definition> } | undefined;
  #isClosed = false;

  constructor(options: InformerPoolOptions) {
    this.#options = options;
  }

  /** A share in the informer for the request; the first one starts it. */
  acquire<O extends KubeObject>(request: InformerRequest<O>): InformerHandle<O> {
    if (this.#isClosed) throw new TypeError("the informers have been stopped");
    const id = informerId(request);
    const shared = this.#shared.get(id) ?? this.#start(id, request);
    shared.take();
    return this.#handle<O>(id, shared);
  }

  /** Lets every store of the kind return our own write until the watch has caught up. */
  noteWrite(kind: Kind, object: KubeObject): void {
    for (const shared of this.#shared.values()) {
      if (shared.mayHold(kind, object)) shared.informer.noteWrite(object);
    }
  }

  /** The objects of a running informer; empty when there is none. Starts none. */
  stored<O extends KubeObject>(request: InformerRequest<O>): readonly Live<O>[] {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind of the request vouches for the objects' type
    return (this.#shared.get(informerId(request))?.informer.store.list() ?? []) as readonly Live<O>[];
  }

  /** All informers as plain data. */
  report(): readonly InformerReport[] {
    return [...this.#shared.values()].map(({ informer, kind }) => ({
      kind: nameOfKind(kind),
      state: informer.state,
      isSynced: informer.store.isSynced,
      objects: informer.store.size,
    }));
  }

  /** The objects that are there but left out, without their content. */
  quarantined(): readonly { readonly kind: Kind; readonly object: KubeObject }[] {
    return [...this.#shared.values()].flatMap(({ kind, informer }) =>
      informer.quarantined.map((object) => ({ kind, object })),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const informers = [...this.#shared.values()].map(({ informer }) => informer);
    this.#shared.clear();
    await Promise.all(informers.map(async (informer) => await informer.stop()));
  }

  #start(id: string, request: InformerRequest): Shared {
    const { system, observer = {}, freeze = false, idleMs, transport } = this.#options;
    const { kind, projection: { textLimitBytes } = {} } = request;
    const target = { ...request, textLimitBytes };
    const sourceOf = this.#options.sourceOf ?? ((each): WatchSource => transportSource(transport, each));
    const informer = new Informer({
      target: request,
      view: request,
      source: sourceOf(target),
      system,
      observer: {
        ...observer,
        stateChanged: (event) => {
          if (event.state === "pending") this.#watchDefinitions(kind);
          if (kind === definitions && classify(event.error) === "forbidden") this.#forgoDefinitions();
          observer.stateChanged?.(event);
        },
      },
      freeze,
      idleMs,
      pendingMs: (backOffMs) => this.#pendingMs(request, backOffMs),
    });
    const shared = new Shared(informer, request);
    this.#shared.set(id, shared);
    informer.start();
    return shared;
  }

  #handle<O extends KubeObject>(id: string, shared: Shared): InformerHandle<O> {
    const removals: (() => void)[] = [];
    let isHeld = true;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind of the request vouches for the objects' type
    const store = shared.informer.store as unknown as ReadStore<O>;
    return {
      store,
      get state() {
        return shared.informer.state;
      },
      get silentMs() {
        return shared.informer.silentMs;
      },
      synced: shared.informer.synced,
      get firstResponse() {
        return shared.informer.firstResponse;
      },
      get isForbidden() {
        return shared.informer.isForbidden;
      },
      retryNow: () => {
        if (shared.informer.state === "pending" || shared.informer.isForbidden) shared.informer.retryNow();
      },
      addHandler: (handler) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
        removals.push(shared.informer.addHandler(handler as unknown as InformerHandler));
      },
      [Symbol.asyncDispose]: async () => {
        if (!isHeld) return;
        isHeld = false;
        for (const remove of removals) remove();
        await this.#release(id, shared);
      },
    };
  }

  async #release(id: string, shared: Shared): Promise<void> {
    if (!shared.giveBack() || this.#shared.get(id) !== shared) return;
    this.#shared.delete(id);
    await shared.informer.stop();
  }

  /**
   * The first kind that is not served makes it worthwhile to watch which ones are. From then on the reflectors
   * themselves retry every few minutes only; where watching definitions is forbidden, every 30 s.
   */
  #watchDefinitions(pending: Kind): void {
    if (this.#isClosed || this.#definitions !== undefined || pending.group === definitions.group) return;
    const handle = this.acquire({ kind: definitions, projection: definitionNames });
    this.#definitions = { handle };
    handle.addHandler((event) => {
      for (const { kind, informer } of this.#shared.values()) {
        if (informer.state === "pending" && concerns(event, kind)) informer.retryNow();
      }
    });
  }

  /** How long to wait for a kind that is not served. Without a definition of a kind that needs one, only an event brings it. */
  #pendingMs({ kind, isDefined = false }: InformerRequest, backOffMs: number): number {
    const handle = this.#definitions?.handle;
    if (handle?.state !== "watching") return Math.min(backOffMs, pendingRetryMs);
    const isThere = handle.store.list().some((each) => isDefinitionOf(each, kind));
    return isDefined && handle.store.isSynced && !isThere
      ? undefinedPendingMs
      : Math.min(backOffMs, pendingReportMs);
  }

  /** Repeating a forbidden request would fill the server's audit log. */
  #forgoDefinitions(): void {
    const { handle } = this.#definitions ?? {};
    this.#definitions = {};
    void handle?.[Symbol.asyncDispose]();
  }
}

/** Definitions are watched and announce a kind immediately; only aggregated APIs come without one. */
const pendingReportMs = 180_000;

/** Nothing but a new definition changes it; timers end after 24 days. */
const undefinedPendingMs = 20 * 86_400_000;

/** No event announces it. */
const pendingRetryMs = 30_000;

/** Requests with one id share one informer. */
export function informerId({
  kind,
  namespace,
  labelSelector,
  fieldSelector,
  ...view
}: InformerRequest): string {
  const scope = [kind.group, kind.version, kind.plural, namespace, labelSelector, fieldSelector];
  const { isMetadataOnly = false, keepManagedFields = false, internStrings = false, projection } = view;
  return JSON.stringify([...scope, isMetadataOnly, keepManagedFields, internStrings, projection?.name]);
}
