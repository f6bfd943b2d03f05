import type { InformerHandler } from "../informers/informer-event.ts";
import {
  type InformerHandle,
  type InformerPool,
  informerId,
  type InformerRequest,
} from "../informers/informer-pool.ts";
import type { KubeObject, ObjectKey } from "../object/kube-object.ts";
import type { Tracked } from "../reconcile/recipe.ts";

interface Source {
  readonly handle: InformerHandle;
  readonly followers: Set<ObjectKey>;
}

/** Watches that reconciles asked for: each runs as long as the last reconcile of some object named it. */
export class TrackedSources {
  readonly #pool: InformerPool;
  readonly #handler: InformerHandler;
  readonly #sources = new Map<string, Source>();
  readonly #byFollower = new Map<ObjectKey, ReadonlySet<string>>();

  constructor(pool: InformerPool, handler: InformerHandler) {
    this.#pool = pool;
    this.#handler = handler;
  }

  /** A reconcile begins: what it tracks counts at once, what it no longer tracks is dropped by `end`. */
  begin(follower: ObjectKey): {
    track<O extends KubeObject>(request: InformerRequest<O>): Tracked<O>;
    end(): void;
  } {
    const fresh = new Set<string>();
    return {
      track: <O extends KubeObject>(request: InformerRequest<O>): Tracked<O> => {
        const id = informerId(request);
        fresh.add(id);
        const source = this.#sources.get(id) ?? this.#open(id, request);
        source.followers.add(follower);
        // A reconcile names a kind because it takes it for served: discovery may know before the next event about it.
        source.handle.retryNow();
        // A reconcile that fails before its end must not lose what it tracked.
        this.#byFollower.set(follower, new Set([...(this.#byFollower.get(follower) ?? []), id]));
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind of the request vouches for the objects' type
        return source.handle as unknown as InformerHandle<O>;
      },
      end: () => {
        for (const id of this.#byFollower.get(follower) ?? []) if (!fresh.has(id)) this.#drop(id, follower);
        this.#remember(follower, fresh);
      },
    };
  }

  /** The follower is gone. */
  forget(follower: ObjectKey): void {
    for (const id of this.#byFollower.get(follower) ?? []) this.#drop(id, follower);
    this.#byFollower.delete(follower);
  }

  /** Gives every watch back. */
  async release(): Promise<void> {
    const handles = [...this.#sources.values()].map(({ handle }) => handle);
    this.#sources.clear();
    this.#byFollower.clear();
    await Promise.all(handles.map(async (handle) => await handle[Symbol.asyncDispose]()));
  }

  #open(id: string, request: InformerRequest): Source {
    const source: Source = { handle: this.#pool.acquire(request), followers: new Set() };
    this.#sources.set(id, source);
    source.handle.addHandler(this.#handler);
    return source;
  }

  #remember(follower: ObjectKey, ids: ReadonlySet<string>): void {
    if (ids.size === 0) this.#byFollower.delete(follower);
    else this.#byFollower.set(follower, ids);
  }

  #drop(id: string, follower: ObjectKey): void {
    const source = this.#sources.get(id);
    if (source === undefined) return;
    source.followers.delete(follower);
    if (source.followers.size > 0) return;
    this.#sources.delete(id);
    void source.handle[Symbol.asyncDispose]();
  }
}
