import {
  ApiError,
  apiVersionOf,
  type Client,
  type Context,
  controllerReference,
  type Desired,
  type Index,
  isControlledBy,
  isJsonObject,
  keyOf,
  type Kind,
  type KubeObject,
  type ListOptions,
  type Live,
  type MemorySlot,
  type ObjectRef,
  type ReadStore,
  type ReconcileEvent,
  silentLog,
} from "@quartermaster/runtime";
import { conditionalWrites } from "@quartermaster/runtime/testing";

import { mergePatch } from "./merge-patch.ts";
import type { ReconcileWrite, WriteHooks } from "./reconcile-write.ts";

interface Stored {
  readonly kind: Kind;
  readonly object: Live;
}

/**
 * Objects in memory behind our own client interface, with the server's preconditions: what was written, in which order, and what is left
 * when a write fails. Knows nothing of defaults, validation and admission: those are for tests with a real API server.
 *
 * @example
 * const api = new RecordedReconcile([{ kind: secrets, object: aSecret }]);
 * await perform(action, api.context(owner));
 * expect(api.writes.map(textOfWrite)).toEqual(["delete Secret ca (uid)"]);
 */
export class RecordedReconcile {
  readonly writes: ReconcileWrite[] = [];
  readonly events: ReconcileEvent[] = [];
  /** Objects that the reconcile follows, e.g. `Secret team/ca`. */
  readonly followed = new Set<string>();
  readonly #objects = new Map<string, Stored>();
  readonly #memory = new Map<unknown, unknown>();
  #version = 1_000;

  #hooks: WriteHooks = {};
  #otherState: () => unknown = () => undefined;

  constructor(objects: readonly { readonly kind: Kind; readonly object: KubeObject }[] = []) {
    for (const { kind, object } of objects) this.put(kind, object);
  }

  /** From now on; without hooks writes succeed and no one else acts. */
  hook(hooks: WriteHooks): void {
    this.#hooks = hooks;
  }

  /** Adds the state of another system that the writes change to `state`. */
  watch(otherState: () => unknown): void {
    this.#otherState = otherState;
  }

  /** Another client writes an object, or changes it: it gets a new resourceVersion, and a uid if it has none. */
  put(kind: Kind, object: KubeObject): Live {
    this.#version += 1;
    const { metadata } = object;
    const identity = {
      uid: metadata.uid ?? `uid-${String(this.#version)}`,
      resourceVersion: String(this.#version),
      namespace: metadata.namespace ?? "",
    };
    const typed = { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
    const live: Live = { ...typed, metadata: { ...metadata, ...identity } };
    this.#objects.set(idOf(kind, metadata), { kind, object: live });
    return live;
  }

  /** Another client deletes an object. */
  remove(kind: Pick<Kind, "kind">, ref: ObjectRef): void {
    this.#objects.delete(idOf(kind, ref));
  }

  /** The object as it is now. */
  read<O extends KubeObject>(kind: Pick<Kind<O>, "kind">, ref: ObjectRef): Live<O> | undefined {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- kept under its kind
    return this.#objects.get(idOf(kind, ref))?.object as Live<O> | undefined;
  }

  /** Another client acts on the object that a write means: changes it, or deletes it and creates another one of the name. */
  interfere({ kind, name }: ReconcileWrite, act: "edit" | "replace"): Live | undefined {
    const found = [...this.#objects.values()].find(
      (each) => each.kind.kind === kind && keyOf(each.object.metadata) === name,
    );
    if (found === undefined) return undefined;
    const { metadata, ...rest } = found.object;
    const annotations = { ...metadata.annotations, "another.client/was": "here" };
    const { uid, ...others } = { ...metadata, annotations };
    return this.put(found.kind, {
      ...rest,
      metadata: act === "replace" ? others : { uid, ...others },
    });
  }

  /** Everything that is there, without resourceVersions: equal for two runs that end in the same state. */
  state(): Readonly<Record<string, unknown>> {
    const entries = [...this.#objects].map(([id, { object }]) => {
      const { resourceVersion: _version, uid: _uid, ...metadata } = object.metadata;
      return [id, { ...object, metadata }] as const;
    });
    const sorted = entries.toSorted(([one], [other]) => one.localeCompare(other));
    return { ...Object.fromEntries(sorted), other: this.#otherState() };
  }

  /** Records a write and lets it take effect; for writes to other systems too, so that one list shows the order of all. */
  async write<T>(write: ReconcileWrite, effect: () => T | Promise<T>): Promise<T> {
    const at = this.writes.length;
    this.writes.push(write);
    this.#hooks.before?.(write, at);
    const result = await effect();
    this.#hooks.after?.(write, at);
    return result;
  }

  /** The client. Methods that no unit test needs are missing and throw. */
  get client(): Client {
    const plain: Pick<Client, "create" | "delete"> = {
      create: async (kind, object) => {
        const name = keyOf(object.metadata);
        return await this.write({ verb: "create", kind: kind.kind, name }, () => {
          if (this.read(kind, object.metadata) !== undefined)
            throw failure("alreadyExists", `create ${name}`);
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller's own object
          return this.put(kind, object) as Live<typeof object>;
        });
      },
      delete: async (kind, ref, options) => {
        await this.#delete(kind, ref, options?.preconditions);
      },
    };
    const client: Partial<Client> = {
      ...plain,
      ...conditionalWrites(plain),
      get: async (kind, ref) => await Promise.resolve(this.read(kind, ref) ?? missing(kind, ref)),
      find: async (kind, ref) => await Promise.resolve(this.read(kind, ref)),
      list: (kind, options) => asyncOf(this.#list(kind, options)),
      patch: async (kind, ref, { patch }) => {
        const body = patch.kind === "merge" && isJsonObject(patch.body) ? patch.body : {};
        return await this.#patch(kind, ref, body);
      },
      // A dry run of a deletion: the response names the uid.
      raw: async ({ path }) => {
        const name = path.split("/").at(-1)?.replace("?dryRun=All", "");
        const found = [...this.#objects.values()].find(({ object: { metadata } }) => metadata.name === name);
        return await Promise.resolve({ details: { uid: found?.object.metadata.uid } });
      },
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is missing is not called
    return client as Client;
  }

  /** The context of a reconcile of the owner. Its stores show what is there now, of the objects that a watch selects (default: all). */
  context(owner: Live, isStored: (object: Live) => boolean = () => true): Context {
    const context: Partial<Context> = {
      client: this.client,
      log: silentLog,
      signal: new AbortController().signal,
      events: {
        record: (event) => {
          this.events.push(event);
        },
      },
      store: (kind) => this.#store(kind, isStored),
      apply: async (kind, desired) => await this.#apply(kind, desired, owner),
      follow: (kind, ref) => {
        const location = { namespace: owner.metadata.namespace, ...ref };
        this.followed.add(idOf(kind, location));
        return this.read(kind, location);
      },
      memory: (slot) => this.#remembered(slot),
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is missing is not called
    return context as Context;
  }

  #remembered<T>(slot: MemorySlot<T>): T {
    if (!this.#memory.has(slot)) this.#memory.set(slot, slot.create());
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- kept under the slot that made it
    return this.#memory.get(slot) as T;
  }

  #store<O extends KubeObject>(kind: Kind<O>, isStored: (object: Live) => boolean): ReadStore<O> {
    const all = (): readonly Live<O>[] => this.#list(kind).filter((object) => isStored(object));
    const store: Partial<ReadStore<O>> = {
      get: (ref) => all().find(({ metadata }) => keyOf(metadata) === keyOf(ref)),
      list: all,
      listBy: (index: Index<O>, value: string) =>
        all().filter((object) => index.valuesOf(object).includes(value)),
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is missing is not called
    return store as ReadStore<O>;
  }

  #list<O extends KubeObject>(
    kind: Kind<O>,
    { namespace, labelSelector }: ListOptions = {},
  ): readonly Live<O>[] {
    const [key = "", value] = (labelSelector ?? "").split("=");
    return (
      [...this.#objects.values()]
        .filter((each) => each.kind.kind === kind.kind && each.kind.group === kind.group)
        .filter(({ object: { metadata } }) => namespace === undefined || metadata.namespace === namespace)
        .filter(({ object: { metadata } }) => value === undefined || metadata.labels?.[key] === value)
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- kept under its kind
        .map(({ object }) => object as Live<O>)
    );
  }

  async #apply<O extends KubeObject>(kind: Kind<O>, desired: Desired<O>, owner: Live): Promise<Live<O>> {
    const { namespace } = owner.metadata;
    const metadata = { namespace, ...desired.metadata };
    const name = keyOf(metadata);
    return await this.write({ verb: "apply", kind: kind.kind, name }, () => {
      const live = this.read(kind, metadata);
      if (live !== undefined && !isControlledBy(live, owner)) throw failure("conflict", `apply ${name}`);
      const object = {
        ...live,
        ...desired,
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        metadata: { ...live?.metadata, ...metadata, ownerReferences: [controllerReference(owner)] },
      };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller's typed fields
      return this.put(kind, object) as Live<O>;
    });
  }

  async #patch<O extends KubeObject>(
    kind: Kind<O>,
    ref: ObjectRef,
    body: Readonly<Record<string, unknown>>,
  ): Promise<Live<O>> {
    const { uid, resourceVersion, ...metadata } = isJsonObject(body["metadata"]) ? body["metadata"] : {};
    const carried = { uid: textOrNothing(uid), resourceVersion: textOrNothing(resourceVersion) };
    const name = keyOf(ref);
    return await this.write({ verb: "patch", kind: kind.kind, name, ...carried }, () => {
      const live = this.#met(kind, ref, carried);
      const merged = mergePatch(live, { ...body, metadata });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a patch of the object that was there
      return this.put(kind, merged as KubeObject) as Live<O>;
    });
  }

  async #delete(kind: Kind, ref: ObjectRef, preconditions: Meant = {}): Promise<void> {
    await this.write({ verb: "delete", kind: kind.kind, name: keyOf(ref), ...preconditions }, () => {
      this.#met(kind, ref, preconditions);
      this.remove(kind, ref);
    });
  }

  /** The object, if it is still the one that is meant. */
  #met(kind: Kind, ref: ObjectRef, { uid, resourceVersion }: Meant): Live {
    const live = this.read(kind, ref) ?? missing(kind, ref);
    const isOther = uid !== undefined && live.metadata.uid !== uid;
    const isChanged = resourceVersion !== undefined && live.metadata.resourceVersion !== resourceVersion;
    if (isOther || isChanged) throw failure("conflict", keyOf(ref));
    return live;
  }
}

/** Which object a write says that it means. */
interface Meant {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

function idOf({ kind }: Pick<Kind, "kind">, ref: ObjectRef): string {
  return `${kind} ${keyOf(ref)}`;
}

function missing(kind: Kind, ref: ObjectRef): never {
  throw failure("notFound", `${kind.kind} ${keyOf(ref)}`);
}

function failure(errorClass: ApiError["class"], what: string): ApiError {
  return new ApiError(what, { class: errorClass, mayHaveActed: false });
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

async function* asyncOf<T>(values: readonly T[]): AsyncGenerator<T> {
  for (const value of values) yield await Promise.resolve(value);
}
