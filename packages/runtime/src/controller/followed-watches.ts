import { ApiError, ExternalError } from "../errors.ts";
import type { InformerEvent } from "../informers/informer-event.ts";
import {
  type InformerHandle,
  informerId,
  type InformerPool,
  type InformerRequest,
} from "../informers/informer-pool.ts";
import { type Kind, nameOfKind } from "../object/kind.ts";
import { keyOf, type KubeObject, type Live, type ObjectKey, type ObjectRef } from "../object/kube-object.ts";
import { reasons } from "../reasons.ts";
import type { FollowView, Tracked } from "../reconcile/recipe.ts";
import type { ReadStore } from "../store/object-store.ts";

export interface FollowedWatchesOptions {
  readonly pool: InformerPool;
  /** Objects that are followed with a watch of their own; beyond it `follow` throws. */
  readonly limit: number;
  /** The same for the objects of one namespace. */
  readonly namespaceLimit: number;
  /** The store of a kind that the controller follows with one watch for all its objects; undefined for other kinds. */
  readonly storeOf: (kind: Kind) => ReadStore | undefined;
  /** Brings an object back. An event says how urgent that is. */
  readonly wake: (follower: ObjectKey, event?: InformerEvent) => void;
  /** A watch of `track` reported this. */
  readonly onTracked: (event: InformerEvent) => void;
}

/**
 * Something that a reconcile needs is not known yet, e.g. a followed object. Throw it only where the response wakes the object: the reconcile
 * is repeated then, without being counted as a failure, or after 30 s.
 *
 * @example
 * if (facts === undefined) throw new NotYetKnownError("the first sample of cluster logs");
 */
export class NotYetKnownError extends ApiError {
  constructor(what: string) {
    super(`watch ${what}: no response yet`, { class: "transient", mayHaveActed: false });
  }
}

/** One object that a reconcile wants to have. */
interface FollowRequest<O extends KubeObject = KubeObject> {
  readonly kind: Kind<O>;
  readonly ref: ObjectRef;
  readonly view?: FollowView | undefined;
}

interface Watch {
  readonly handle: InformerHandle;
  /** Of a single object, which counts against the limit. */
  readonly isSingle: boolean;
  readonly namespace: string | undefined;
}

/**
 * The watches that reconciles requested. Each is shared by all objects whose last reconcile named it, and ends when there is none
 * any more.
 */
export class FollowedWatches {
  readonly #options: FollowedWatchesOptions;
  readonly #followers = new Followers((target) => {
    this.#close(target);
  });
  readonly #watches = new Map<string, Watch>();
  /** Watches that the server has filled, or refused. */
  readonly #responded = new Set<string>();
  /** Those who wait for a watch to become free. */
  readonly #refused = new Set<ObjectKey>();

  constructor(options: FollowedWatchesOptions) {
    this.#options = options;
  }

  /** A reconcile of the object begins. */
  begin(follower: ObjectKey): Following {
    return this.#followers.begin(follower);
  }

  /** See `Context.follow`. */
  follow<O extends KubeObject>(
    following: Following,
    { kind, ref, view = {} }: FollowRequest<O>,
  ): Live<O> | undefined {
    const store = this.#options.storeOf(kind);
    if (store !== undefined) following.follow(objectId(kind, keyOf(ref)));
    const found = store === undefined ? this.#single(following, { kind, ref, view }) : store.get(ref);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind vouches for the objects' type
    return found as Live<O> | undefined;
  }

  /** See `Context.track`. */
  track<O extends KubeObject>(following: Following, request: InformerRequest<O>): Tracked<O> {
    const { handle } = this.#watch(following, request, false);
    // A reconcile names a kind because it takes it for served: discovery may know before the next event about it.
    handle.retryNow();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind of the request vouches for the objects' type
    return handle as unknown as InformerHandle<O>;
  }

  /** Those who follow an object of a kind that has one watch for all its objects. */
  followersOf(kind: Kind, key: ObjectKey): Iterable<ObjectKey> {
    return this.#followers.of(objectId(kind, key));
  }

  /** The object no longer exists. */
  forget(follower: ObjectKey): void {
    this.#refused.delete(follower);
    this.#followers.forget(follower);
  }

  /** Gives every watch back. */
  async release(): Promise<void> {
    const handles = [...this.#watches.values()].map(({ handle }) => handle);
    this.#watches.clear();
    await Promise.all(handles.map(async (handle) => await handle[Symbol.asyncDispose]()));
  }

  /** Throws while nothing is known of the object: absent and not seen yet must differ. */
  #single(following: Following, { kind, ref, view }: FollowRequest): KubeObject | undefined {
    const { name, namespace } = ref;
    const scope = { namespace: kind.scope === "Cluster" ? undefined : namespace };
    const request = { kind, fieldSelector: `metadata.name=${escaped(name)}`, ...scope, ...view };
    const { handle } = this.#watch(following, request, true);
    const what = `${nameOfKind(kind)} ${keyOf(ref)}`;
    if (handle.isForbidden) {
      handle.retryNow();
      throw new ApiError(`watch ${what}: forbidden`, { class: "forbidden", mayHaveActed: false });
    }
    if (!this.#responded.has(informerId(request))) throw new NotYetKnownError(what);
    return handle.store.get(kind.scope === "Cluster" ? { name } : ref);
  }

  #watch(following: Following, request: InformerRequest, isSingle: boolean): Watch {
    const id = informerId(request);
    let watch = this.#watches.get(id);
    if (watch === undefined) {
      if (isSingle) this.#assertRoom(following.follower, request.namespace);
      watch = this.#open(id, request, isSingle);
    }
    following.follow(id);
    return watch;
  }

  #assertRoom(follower: ObjectKey, namespace: string | undefined): void {
    const { limit, namespaceLimit } = this.#options;
    const singles = [...this.#watches.values()].filter(({ isSingle }) => isSingle);
    const own = singles.filter((each) => namespace !== undefined && each.namespace === namespace);
    if (own.length < namespaceLimit && singles.length < limit) return;
    this.#refused.add(follower);
    const isOwn = singles.length < limit;
    const message = isOwn
      ? `${namespaceLimit} objects of namespace ${namespace ?? ""} are followed already, which is the limit of a namespace: refer to fewer objects.`
      : `The controller follows ${limit} objects already, which is its limit.`;
    const reason = isOwn ? reasons.namespaceFollowLimit : reasons.followLimit;
    throw new ExternalError(message, { class: "refused", reason });
  }

  #open(id: string, request: InformerRequest, isSingle: boolean): Watch {
    const handle = this.#options.pool.acquire(request);
    const watch: Watch = { handle, isSingle, namespace: request.namespace };
    this.#watches.set(id, watch);
    if (!isSingle) {
      handle.addHandler(this.#options.onTracked);
      return watch;
    }
    handle.addHandler((event) => {
      this.#wakeAll(id, event);
    });
    if (handle.store.isSynced) this.#responded.add(id);
    void this.#awaitResponses(id, watch);
    return watch;
  }

  /** The first response may be a refusal; then the one that lifts it counts too. */
  async #awaitResponses(id: string, watch: Watch): Promise<void> {
    const { firstResponse, synced } = watch.handle;
    for (const response of [firstResponse, synced]) {
      await response;
      if (this.#watches.get(id) !== watch) return;
      this.#responded.add(id);
      this.#wakeAll(id);
    }
  }

  #wakeAll(id: string, event?: InformerEvent): void {
    for (const follower of this.#followers.of(id)) this.#options.wake(follower, event);
  }

  #close(id: string): void {
    const watch = this.#watches.get(id);
    if (watch === undefined) return;
    this.#watches.delete(id);
    this.#responded.delete(id);
    void watch.handle[Symbol.asyncDispose]();
    for (const follower of this.#refused) this.#options.wake(follower);
    this.#refused.clear();
  }
}

/** A name that a tenant wrote must not become another selector, or one that the server refuses for ever. */
function escaped(name: string): string {
  return name.replaceAll(/[\\,=]/g, "\\$&");
}

/** Objects that one reconcile follows. Most follow nothing: for those nothing is made. */
export class Following {
  readonly follower: ObjectKey;
  readonly #followers: Followers;
  #targets: Set<string> | undefined;

  constructor(follower: ObjectKey, followers: Followers) {
    this.follower = follower;
    this.#followers = followers;
  }

  /** Counts immediately. */
  follow(target: string): void {
    this.#targets ??= new Set();
    this.#targets.add(target);
    this.#followers.add(this.follower, target);
  }

  /** The reconcile ended without an error: what it no longer named is dropped. After an error everything stays. */
  end(): void {
    this.#followers.replace(this.follower, this.#targets);
  }
}

/** Who follows what. A reference counts immediately and holds until a later reconcile ends without it. */
export class Followers {
  readonly #followers = new Map<string, Set<ObjectKey>>();
  readonly #targets = new Map<ObjectKey, Set<string>>();
  readonly #onUnfollowed: (target: string) => void;

  /** `onUnfollowed` is called when the last follower of a target no longer exists. */
  constructor(onUnfollowed: (target: string) => void) {
    this.#onUnfollowed = onUnfollowed;
  }

  /** Those who follow the target. */
  of(target: string): Iterable<ObjectKey> {
    return this.#followers.get(target) ?? [];
  }

  /** A reconcile begins: what it follows counts immediately, what it no longer follows is dropped by `end`. */
  begin(follower: ObjectKey): Following {
    return new Following(follower, this);
  }

  add(follower: ObjectKey, target: string): void {
    add(this.#followers, target, follower);
    add(this.#targets, follower, target);
  }

  /** From now on the follower follows these and no others. */
  replace(follower: ObjectKey, targets: Set<string> | undefined): void {
    const before = this.#targets.get(follower);
    if (before === undefined) return;
    for (const target of before) if (targets?.has(target) !== true) this.#drop(target, follower);
    if (targets === undefined) this.#targets.delete(follower);
    else this.#targets.set(follower, targets);
  }

  /** The follower no longer exists. */
  forget(follower: ObjectKey): void {
    for (const target of this.#targets.get(follower) ?? []) this.#drop(target, follower);
    this.#targets.delete(follower);
  }

  #drop(target: string, follower: ObjectKey): void {
    const followers = this.#followers.get(target);
    followers?.delete(follower);
    if (followers?.size !== 0) return;
    this.#followers.delete(target);
    this.#onUnfollowed(target);
  }
}

function add(sets: Map<string, Set<string>>, key: string, value: string): void {
  const values = sets.get(key);
  if (values === undefined) sets.set(key, new Set([value]));
  else values.add(value);
}

function objectId(kind: Kind, key: ObjectKey): string {
  return `${nameOfKind(kind)} ${key}`;
}
