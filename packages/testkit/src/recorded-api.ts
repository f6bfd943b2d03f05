import {
  ApiError,
  type Client,
  type ErrorClass,
  isJsonObject,
  type Kind,
  type KubeObject,
  type Live,
  type ObjectRef,
} from "@quartermaster/runtime";
import { conditionalWrites } from "@quartermaster/runtime/testing";

import { mergePatch } from "./merge-patch.ts";

/** One write as it was sent. */
export interface RecordedWrite {
  readonly verb: "create" | "apply" | "patch" | "replace" | "delete";
  /** Kind, namespace and name, e.g. `Secret ns/one`; a subresource comes after the kind. */
  readonly object: string;
  /** As whom; undefined for the client's own identity. */
  readonly user: string | undefined;
  /** What was sent; undefined for a delete. */
  readonly body: unknown;
  readonly options: SentOptions;
}

/** Called before each write that is not a dry run, with its number from 1: another client acts, or the request fails. */
export type BeforeWrite = (write: RecordedWrite, number: number) => void;

/**
 * A small API server behind the client's own interface, for tests of functions that write. It keeps objects by kind and name, counts
 * versions, refuses preconditions that do not hold, and remembers every write. It knows neither schemas nor managed fields.
 *
 * @example
 * const api = new RecordedApi([aConfigMap("one")]);
 * api.beforeWrite = (_write, number) => { if (number === 2) throw apiError("transient"); };
 */
export class RecordedApi {
  readonly writes: RecordedWrite[] = [];
  beforeWrite: BeforeWrite = () => undefined;
  /** Runs before each dry run; may throw what the server responds. */
  beforeDryRun: () => void = () => undefined;
  /** Called before each read of one object, which may fail. */
  beforeRead: (object: string) => void = () => undefined;
  /** What requests without a method of their own are answered, e.g. access reviews. */
  respondRaw: (path: string, body: unknown) => unknown = () => ({});
  readonly #objects = new Map<string, Live>();
  #version = 0;
  #number = 0;

  constructor(objects: Iterable<KubeObject> = []) {
    for (const object of objects) this.put(object);
  }

  /** All objects, in the order of their names. */
  get objects(): readonly Live[] {
    return [...this.#objects].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
  }

  /** The object of this kind and name. */
  find(kind: string, ref: ObjectRef): Live | undefined {
    return this.#objects.get(idOf(kind, ref));
  }

  /** Another client writes the object, or makes it: with a uid of its own unless one is given. */
  put(object: KubeObject): Live {
    const id = idOf(object.kind, object.metadata);
    const uid = object.metadata.uid ?? this.#objects.get(id)?.metadata.uid;
    return this.#keep({ ...object, metadata: { ...object.metadata, ...(uid === undefined ? {} : { uid }) } });
  }

  /** Another client deletes the object. */
  remove({ kind, metadata }: KubeObject): void {
    this.#objects.delete(idOf(kind, metadata));
  }

  /** A client of this server. */
  get client(): Client {
    return this.#clientFor(undefined);
  }

  #clientFor(user: string | undefined): Client {
    const found = async (kind: Kind, ref: ObjectRef): Promise<Live | undefined> => {
      await Promise.resolve();
      this.beforeRead(idOf(kind.kind, ref));
      return this.find(kind.kind, ref);
    };
    const plain = {
      create: async (kind: Kind, body: KubeObject, options: SentOptions = {}) =>
        await this.#write({ verb: "create", kind, ref: body.metadata, user, body, options }),
      delete: async (kind: Kind, ref: ObjectRef, options: SentOptions = {}) => {
        await this.#write({ verb: "delete", kind, ref, user, body: undefined, options });
      },
    };
    const client = {
      ...plain,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the part of the interface that writers use
      ...conditionalWrites(plain as unknown as Client),
      find: found,
      get: async (kind: Kind, ref: ObjectRef) => (await found(kind, ref)) ?? fail("notFound", kind, ref),
      apply: async (kind: Kind, body: KubeObject, options: SentOptions) =>
        await this.#write({ verb: "apply", kind, ref: body.metadata, user, body, options }),
      replace: async (kind: Kind, body: KubeObject, options: SentOptions = {}) =>
        await this.#write({ verb: "replace", kind, ref: body.metadata, user, body, options }),
      patch: async (
        kind: Kind,
        ref: ObjectRef,
        options: SentOptions & { readonly patch: { readonly body?: unknown } },
      ) => await this.#write({ verb: "patch", kind, ref, user, body: options.patch.body, options }),
      raw: async ({ path, body }: { readonly path: string; readonly body?: unknown }) =>
        await Promise.resolve(this.respondRaw(path, body)),
      as: ({ user: other }: { readonly user: string }) => this.#clientFor(other),
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the part of the interface that writers use
    return client as unknown as Client;
  }

  async #write({ kind, ref, ...sent }: Sent): Promise<Live> {
    await Promise.resolve();
    const isDryRun = sent.options.dryRun === true;
    const { subresource } = sent.options;
    if (!isDryRun) {
      const write = {
        ...sent,
        object: idOf(`${kind.kind}${subresource === undefined ? "" : `/${subresource}`}`, ref),
      };
      this.#number += 1;
      this.beforeWrite(write, this.#number);
      this.writes.push(write);
    } else this.beforeDryRun();
    return this.#response({ kind, ref, ...sent }, isDryRun);
  }

  #response({ verb, kind, ref, body, options }: Sent, isDryRun: boolean): Live {
    const before = this.find(kind.kind, ref);
    const meant = verb === "delete" ? options.preconditions : meantBy(body, options);
    const refused = refusalOf(verb, before, meant);
    if (refused !== undefined) return fail(refused, kind, ref);
    const object = { ...written(verb, before, body), kind: kind.kind };
    if (isDryRun) return before ?? object;
    if (verb !== "delete") {
      if (before === undefined) options.onCreated?.();
      return this.#keep(object);
    }
    this.#objects.delete(idOf(kind.kind, ref));
    return object;
  }

  #keep(object: KubeObject): Live {
    this.#version += 1;
    const { uid = `uid-${this.#version}` } = object.metadata;
    const metadata = { ...object.metadata, uid, resourceVersion: String(this.#version) };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has uid and resourceVersion now
    const live = Object.freeze({ ...object, metadata }) as unknown as Live;
    this.#objects.set(idOf(object.kind, object.metadata), live);
    return live;
  }
}

/** An error as the client throws it. */
export function apiError(errorClass: ErrorClass, message = `test: 500 ${errorClass}`): ApiError {
  return new ApiError(message, { class: errorClass, mayHaveActed: errorClass === "timeout" });
}

interface Sent extends Omit<RecordedWrite, "object"> {
  readonly kind: Kind;
  readonly ref: ObjectRef;
}

/** What of a call's options the server acts upon. */
export interface SentOptions {
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly fieldManager?: string;
  readonly subresource?: string;
  readonly propagation?: string;
  readonly preconditions?: Meant;
  readonly onCreated?: () => void;
}

/** Which object a write says that it means. */
interface Meant {
  readonly uid?: unknown;
  readonly resourceVersion?: unknown;
}

function metadataOf(body: unknown): Meant {
  const metadata = isJsonObject(body) ? body["metadata"] : undefined;
  return isJsonObject(metadata) ? metadata : {};
}

/** As the API server does: a write to a subresource is held to the version, and its uid is ignored. */
function meantBy(body: unknown, { subresource }: SentOptions): Meant {
  const meant = metadataOf(body) ?? {};
  return subresource === undefined ? meant : { resourceVersion: meant.resourceVersion };
}

/** Why the server does not take the write; undefined when it does. */
function refusalOf(
  verb: RecordedWrite["verb"],
  before: Live | undefined,
  meant: Meant = {},
): ErrorClass | undefined {
  if (verb === "create") return before === undefined ? undefined : "alreadyExists";
  if (before === undefined && verb !== "apply") return "notFound";
  const is = (field: keyof Meant): boolean =>
    meant[field] === undefined || meant[field] === before?.metadata[field];
  return is("uid") && is("resourceVersion") ? undefined : "conflict";
}

function written(verb: RecordedWrite["verb"], before: Live | undefined, body: unknown): Live {
  const isWhole = verb === "replace" || verb === "create";
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- callers write objects of the kind
  return (isWhole ? body : mergePatch(before ?? {}, body)) as Live;
}

function fail(errorClass: ErrorClass, kind: Kind, ref: ObjectRef): never {
  throw apiError(errorClass, `test: 400 ${idOf(kind.kind, ref)}: ${errorClass}`);
}

function idOf(kind: string, { namespace = "", name }: ObjectRef): string {
  return `${kind} ${namespace}/${name}`;
}
