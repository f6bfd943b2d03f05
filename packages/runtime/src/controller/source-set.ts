import { type InformerEvent, objectOf } from "../informers/informer-event.ts";
import { type InformerHandle, informerId, type InformerPool } from "../informers/informer-pool.ts";
import { type Kind, nameOfKind } from "../object/kind.ts";
import { keyOf, type KubeObject, type Live, type ObjectKey, type ObjectRef } from "../object/kube-object.ts";
import type { Priority } from "../queue/key-queue.ts";
import type { ReadStore } from "../store/object-store.ts";
import {
  type ControllerOptions,
  declarationChanged,
  passes,
  type Predicate,
  requestOf,
  type Source,
} from "./controller-definition.ts";
import { FollowedWatches } from "./followed-watches.ts";
import type { Reenqueuer } from "./reenqueuer.ts";

/** Where events lead. */
export interface SourceWiring<Obj extends KubeObject> {
  readonly enqueue: (key: ObjectKey, priority: Priority, afterMs?: number) => void;
  readonly reenqueuer: Pick<Reenqueuer, "keep">;
  /** An object of the controller's own kind no longer exists. */
  readonly onDeleted: (object: Live<Obj>) => void;
}

/** The informers of one controller. */
export class SourceSet<Obj extends KubeObject> {
  readonly own: InformerHandle<Obj>;
  /** Watches that reconciles requested. */
  readonly followed: FollowedWatches;
  readonly #kind: Kind<Obj>;
  readonly #definition: ControllerOptions<Obj>;
  readonly #pool: InformerPool;
  /** By what was requested: a kind may be named twice, with different selectors. */
  readonly #handles = new Map<string, InformerHandle>();
  readonly #kindNames = new Map<string, string>();
  /** By kind, as first named; what reconciles read. */
  readonly #stores = new Map<string, ReadStore>();
  #enqueue: SourceWiring<Obj>["enqueue"] | undefined;

  constructor(kind: Kind<Obj>, definition: ControllerOptions<Obj>, pool: InformerPool) {
    this.#kind = kind;
    this.#definition = definition;
    this.#pool = pool;
    const { labelSelector, fieldSelector, owns = [], watches = [], reads = [] } = definition;
    this.own = this.#acquire({
      kind,
      labelSelector,
      fieldSelector,
    });
    const owned = owns.map((source) => withManagedFields(source));
    for (const source of [...owned, ...watches.map((watch) => watch.source), ...reads]) this.#acquire(source);
    this.followed = this.#followWith(reads);
  }

  /** Resolves once every informer has its first picture, or its kind is not served. */
  async settled(): Promise<void> {
    for (const [id, handle] of this.#handles)
      await (this.#isDispensable(id) ? handle.firstResponse : handle.synced);
  }

  /** Resolves as `settled` does, or once the server has said which kinds it refuses. */
  async responded(): Promise<void> {
    for (const handle of this.#handles.values()) await handle.firstResponse;
  }

  /** Kinds that we may not watch: without them the controller does not work. */
  get forbidden(): readonly string[] {
    const refused = [...this.#handles].filter(
      ([id, handle]) => handle.isForbidden && !this.#isDispensable(id),
    );
    return [...new Set(refused.map(([id]) => this.#kindNames.get(id) ?? id))];
  }

  #isDispensable(id: string): boolean {
    const names = (this.#definition.worksWithout ?? []).map((kind) => nameOfKind(kind));
    return names.includes(this.#kindNames.get(id) ?? "");
  }

  async release(): Promise<void> {
    await this.followed.release();
    await Promise.all([...this.#handles.values()].map(async (handle) => await handle[Symbol.asyncDispose]()));
  }

  /** The store of a kind as it was first named in the definition; anything else is a fault of the recipe. */
  storeOf<O extends KubeObject>(kind: Kind<O>): ReadStore<O> {
    const store = this.#stores.get(nameOfKind(kind));
    if (store === undefined)
      throw new TypeError(`the controller does not name ${nameOfKind(kind)} in its definition`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- kept under the name of its kind
    return store as unknown as ReadStore<O>;
  }

  /** Leads the events of all sources to the keys they concern; what is there already is reported immediately. */
  wire({ enqueue, reenqueuer, onDeleted }: SourceWiring<Obj>): void {
    const { owns = [], watches = [], reads = [], predicate } = this.#definition;
    this.#enqueue = enqueue;
    const judge: Predicate<Obj> = predicate ?? declarationChanged;
    this.own.addHandler((event) => {
      if (event.type === "deleted") onDeleted(event.old);
      if (passes(judge, event)) enqueue(keyOf(objectOf(event).metadata), priorityOf(event));
    });
    for (const source of owns) this.#wireOwned(withManagedFields(source), this.#kind, enqueue);
    for (const { source, refsOf, options } of watches) {
      const { reenqueueForMs = 0 } = options;
      this.#handleOf(source).addHandler((event) => {
        if (!passes(options, event)) return;
        for (const object of statesOf(event))
          for (const ref of refsOf(object)) {
            enqueue(keyOf(ref), priorityOf(event), ref.afterMs);
            if (reenqueueForMs > 0 && !event.isInitial) reenqueuer.keep(keyOf(ref), reenqueueForMs);
          }
      });
    }
    for (const source of reads) {
      const kind = kindOf(source);
      this.#handleOf(source).addHandler((event) => {
        const target = keyOf(objectOf(event).metadata);
        for (const key of this.followed.followersOf(kind, target)) enqueue(key, priorityOf(event));
      });
    }
  }

  /** Kinds in `reads` have one watch for all their objects; an object of any other kind gets its own. */
  #followWith(reads: readonly Source[]): FollowedWatches {
    const { tracks, followLimit = 256, namespaceFollowLimit = followLimit } = this.#definition;
    const stores = new Map(reads.map((source) => [nameOfKind(kindOf(source)), this.#handleOf(source).store]));
    return new FollowedWatches({
      pool: this.#pool,
      limit: followLimit,
      namespaceLimit: namespaceFollowLimit,
      storeOf: (kind) => stores.get(nameOfKind(kind)),
      wake: (key, event) => {
        this.#enqueue?.(key, event === undefined ? "normal" : priorityOf(event));
      },
      onTracked: (event) => {
        for (const object of statesOf(event))
          for (const ref of tracks?.(object, this.own.store) ?? [])
            this.#enqueue?.(keyOf(ref), priorityOf(event));
      },
    });
  }

  #wireOwned(owned: Source, owner: Kind, enqueue: SourceWiring<Obj>["enqueue"]): void {
    this.#handleOf(owned).addHandler((event) => {
      for (const object of statesOf(event)) {
        const ref = controllingOwner(object, owner);
        if (ref !== undefined) enqueue(keyOf(ref), priorityOf(event));
      }
    });
  }

  #acquire<O extends KubeObject>(source: Source<O>): InformerHandle<O> {
    const request = requestOf(source, this.#definition.namespace);
    const id = informerId(request);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- kept under the request that vouches for the type
    const known = this.#handles.get(id) as unknown as InformerHandle<O> | undefined;
    const handle = known ?? this.#pool.acquire(request);
    this.#handles.set(id, handle);
    const name = nameOfKind(request.kind);
    this.#kindNames.set(id, name);
    if (!this.#stores.has(name)) this.#stores.set(name, handle.store);
    return handle;
  }

  #handleOf(source: Source): InformerHandle {
    const { namespace } = this.#definition;
    const handle = this.#handles.get(informerId(requestOf(source, namespace)));
    if (handle === undefined) throw new TypeError(`no informer for ${nameOfKind(kindOf(source))}`);
    return handle;
  }
}

function kindOf(source: Source): Kind {
  return "plural" in source ? source : source.kind;
}

/** Who owns which field decides whether `ctx.apply` has anything to write. */
function withManagedFields(source: Source): Source {
  const request = "plural" in source ? { kind: source } : source;
  return request.isMetadataOnly === true ? request : { keepManagedFields: true, ...request };
}

/** Objects from the start can wait for what people do now. */
function priorityOf({ isInitial }: InformerEvent): Priority {
  return isInitial ? "low" : "normal";
}

/** An update may have changed whom the object concerns: both sides have to hear of it. */
export function statesOf(event: InformerEvent): readonly Live[] {
  if (event.type !== "updated") return [objectOf(event)];
  return [event.old, event.new];
}

/** The owner of the kind that controls the object; undefined when there is none. Versions of a group are the same kind. */
export function controllingOwner({ metadata }: KubeObject, kind: Kind): ObjectRef | undefined {
  const { ownerReferences = [], namespace } = metadata;
  const owner = ownerReferences.find(
    (reference) =>
      reference.controller === true &&
      reference.kind === kind.kind &&
      groupOf(reference.apiVersion) === kind.group,
  );
  if (owner === undefined) return undefined;
  const isNamespaced = kind.scope === "Namespaced" && namespace !== undefined;
  return isNamespaced ? { name: owner.name, namespace } : { name: owner.name };
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash === -1 ? "" : apiVersion.slice(0, slash);
}
