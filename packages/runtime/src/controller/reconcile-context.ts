import { type AppliedObjects, applyOwned, type Desired } from "../apply/apply-owned.ts";
import type { Client } from "../client/client.ts";
import type { InformerRequest } from "../informers/informer-pool.ts";
import type { Kind } from "../object/kind.ts";
import type { KubeObject, Live, ObjectRef } from "../object/kube-object.ts";
import { fenceClient, type Scope } from "../reconcile/deadlines.ts";
import { defineMemory, type Memories, type MemorySlot } from "../reconcile/define-memory.ts";
import type { Log } from "../reconcile/log.ts";
import type { Context, FollowView, ReconcileEvent, ReconcileEvents, Tracked } from "../reconcile/recipe.ts";
import type { ReadStore } from "../store/object-store.ts";
import type { ControllerHost } from "./controller-host.ts";
import type { FollowedWatches, Following } from "./followed-watches.ts";

export interface ContextSettings {
  /** Of the controller. */
  readonly name: string;
  readonly kind: Kind;
  readonly host: Pick<ControllerHost, "client" | "pool" | "recordEvent">;
  readonly storeOf: <O extends KubeObject>(kind: Kind<O>) => ReadStore<O>;
  readonly followed: Pick<FollowedWatches, "follow" | "track">;
  readonly memories: Memories;
}

interface ContextOptions {
  readonly object: Live;
  readonly log: Log;
  readonly scope: Scope;
  readonly following: Following;
}

/** The context of one reconcile. What a reconcile without writes never requests is not made: client and signal cost more than the rest of it. */
export class ReconcileContext implements Context, ReconcileEvents {
  readonly log: Log;
  readonly #settings: ContextSettings;
  readonly #object: Live;
  readonly #scope: Scope;
  readonly #following: Following;
  #client: Client | undefined;

  constructor(settings: ContextSettings, { object, log, scope, following }: ContextOptions) {
    this.#settings = settings;
    this.log = log;
    this.#object = object;
    this.#scope = scope;
    this.#following = following;
  }

  get client(): Client {
    this.#client ??= clientWithin(this.#settings.host, this.#scope);
    return this.#client;
  }

  get signal(): AbortSignal {
    return this.#scope.signal;
  }

  get events(): ReconcileEvents {
    return this;
  }

  record(event: ReconcileEvent): void {
    const { host, kind } = this.#settings;
    host.recordEvent(kind, this.#object, event);
  }

  store<O extends KubeObject>(kind: Kind<O>): ReadStore<O> {
    return this.#settings.storeOf(kind);
  }

  memory<T>(slot: MemorySlot<T>): T {
    return this.#settings.memories.of(this.#object, slot);
  }

  async apply<O extends KubeObject>(kind: Kind<O>, desired: Desired<O>): Promise<Live<O>> {
    const { namespace = this.#object.metadata.namespace, name } = desired.metadata;
    const ref = kind.scope === "Cluster" || namespace === undefined ? { name } : { name, namespace };
    return await applyOwned(kind, desired, {
      client: this.client,
      fieldManager: this.#settings.name,
      owner: this.#object,
      isOwnerClusterWide: this.#settings.kind.scope === "Cluster",
      live: this.store(kind).get(ref),
      applied: this.memory(appliedObjects),
    });
  }

  follow<O extends KubeObject>(kind: Kind<O>, ref: ObjectRef, view?: FollowView): Live<O> | undefined {
    const { namespace } = this.#object.metadata;
    const isHere = kind.scope === "Namespaced" && namespace !== undefined;
    const request = { kind, ref: isHere ? { namespace, ...ref } : ref, view };
    return this.#settings.followed.follow(this.#following, request);
  }

  track<O extends KubeObject>(request: InformerRequest<O>): Tracked<O> {
    return this.#settings.followed.track(this.#following, request);
  }
}

const appliedObjects = defineMemory<AppliedObjects>("applied objects", () => new Map());

/** A client that ends with the scope, and whose writes the stores return until the watch brings them. */
export function clientWithin(
  { client, pool }: Pick<ControllerHost, "client" | "pool">,
  scope: Scope,
): Client {
  return fenceClient(client, {
    scope,
    onWritten: (kind, object) => {
      pool.noteWrite(kind, object);
    },
  });
}
