import type { Impersonation } from "../config/cluster-config.ts";
import type { Kind } from "../object/kind.ts";
import type { KubeObject, Live, ObjectRef } from "../object/kube-object.ts";
import type { JsonPatchOperation } from "../object/patch-between.ts";

/** Every call can be given up and has a deadline. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Default: 30 s. */
  readonly timeoutMs?: number | undefined;
}

/** How fresh a read must be. Left out, it is a quorum read: what is decided upon it may destroy things. */
export interface ReadOptions extends CallOptions {
  readonly resourceVersion?: string | undefined;
  /** Nothing but apiVersion, kind and metadata is given back. The server omits the rest if it can. */
  readonly isMetadataOnly?: boolean | undefined;
}

/** How one object is read. */
export interface GetOptions extends ReadOptions {
  /** Longer strings come back empty: they are dropped while they arrive, and never held (default: none is). */
  readonly textLimitBytes?: number | undefined;
}

/** Which objects to list. */
export interface ListOptions extends ReadOptions {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Objects per page (default: 500). */
  readonly pageSize?: number | undefined;
}

/** Options of every write. */
export interface WriteOptions extends CallOptions {
  /** Query the server what would happen, change nothing. */
  readonly dryRun?: boolean | undefined;
  /** Default: `Strict`: unknown or duplicate fields are refused, not dropped. */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore" | undefined;
  readonly fieldManager?: string | undefined;
  /** The response need not hold more than metadata: the server omits the rest if it can. */
  readonly isMetadataEnough?: boolean | undefined;
}

/** Server-side apply. `force` takes fields over from other managers and is never implied. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  readonly force: boolean;
  /** Called before the response is given when there was no such object and the apply made it. */
  readonly onCreated?: (() => void) | undefined;
}

/** A delete that names exactly which object it means. */
export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean | undefined;
  readonly propagation?: "Foreground" | "Background" | "Orphan" | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  /** The object is only deleted while it still is this one. */
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
}

/** How an object is deleted that may no longer exist. */
export interface DeleteIfPresentOptions extends DeleteOptions {
  /** An object that the preconditions do not match is left alone. Default: false, it is a `conflict`. */
  readonly skipIfChanged?: boolean | undefined;
}

/** A patch document with the way it is meant. */
export type Patch =
  | { readonly kind: "merge"; readonly body: unknown }
  | { readonly kind: "json"; readonly operations: readonly JsonPatchOperation[] };

/** A page of a list, with what is needed to watch from there. */
export interface ObjectPage<O> {
  readonly items: readonly O[];
  readonly resourceVersion: string;
  readonly continueToken?: string | undefined;
}

/**
 * The API as plain JSON in and out: unknown fields and strange keys survive. Nothing is cached and nothing is retried that
 * the server may have acted on. Throws `ApiError`.
 */
export interface Client {
  /** The object; throws `notFound` when there is none. */
  get<O extends KubeObject>(kind: Kind<O>, ref: ObjectRef, options?: GetOptions): Promise<Live<O>>;
  /** The object, or undefined when there is none. A kind that is not served throws `notFound` all the same. */
  find<O extends KubeObject>(
    kind: Kind<O>,
    ref: ObjectRef,
    options?: GetOptions,
  ): Promise<Live<O> | undefined>;
  /** All objects, fetched page by page as they are consumed. */
  list<O extends KubeObject>(kind: Kind<O>, options?: ListOptions): AsyncIterable<Live<O>>;
  /** One page; for those who need its resourceVersion. */
  listPage<O extends KubeObject>(
    kind: Kind<O>,
    options?: ListOptions & { readonly continueToken?: string | undefined },
  ): Promise<ObjectPage<Live<O>>>;
  create<O extends KubeObject>(kind: Kind<O>, object: O, options?: WriteOptions): Promise<Live<O>>;
  /** The created object; undefined when one of the name exists, whichever client created it. */
  createIfAbsent<O extends KubeObject>(
    kind: Kind<O>,
    object: O,
    options?: WriteOptions,
  ): Promise<Live<O> | undefined>;
  /** Server-side apply of exactly the fields given; `subresource` e.g. `status`. */
  apply<O extends KubeObject>(
    kind: Kind<O>,
    object: Applied<O>,
    options: ApplyOptions & { readonly subresource?: string },
  ): Promise<Live<O>>;
  patch<O extends KubeObject>(
    kind: Kind<O>,
    ref: ObjectRef,
    options: WriteOptions & { readonly patch: Patch; readonly subresource?: string },
  ): Promise<Live<O>>;
  /** Full replacement; conflicts unless the resourceVersion is current. */
  replace<O extends KubeObject>(
    kind: Kind<O>,
    object: O,
    options?: WriteOptions & { readonly subresource?: string },
  ): Promise<Live<O>>;
  /** Returns once the server has taken the request; the object may linger with finalizers. `notFound` throws. */
  delete<O extends KubeObject>(kind: Kind<O>, ref: ObjectRef, options?: DeleteOptions): Promise<void>;
  /** The same, and false when there is no such object or its kind is not served. */
  deleteIfPresent<O extends KubeObject>(
    kind: Kind<O>,
    ref: ObjectRef,
    options?: DeleteIfPresentOptions,
  ): Promise<boolean>;
  /** POST to a subresource such as `token`, `eviction`, `binding`; the response is whatever the server says. */
  createSubresource(
    kind: Kind,
    ref: ObjectRef,
    options: WriteOptions & { readonly subresource: string; readonly body: unknown },
  ): Promise<unknown>;
  /** GET of a subresource such as `scale` or `log`… as JSON. */
  getSubresource(
    kind: Kind,
    ref: ObjectRef,
    options: ReadOptions & { readonly subresource: string },
  ): Promise<unknown>;
  /** Any other request, JSON in and out, e.g. `/version` or an access review. */
  raw(request: RawRequest): Promise<unknown>;
  /** The same connection pool under another identity. */
  as(identity: Impersonation): Client;
}

/** A request that has no method of its own. */
export interface RawRequest extends CallOptions {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, e.g. `/openapi/v3`. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string | undefined;
}

/** The content of an apply: apiVersion, kind and name, and any part of the rest. A field the kind does not have is a type error. */
export type Applied<O extends KubeObject> = Pick<O, "apiVersion" | "kind"> & {
  readonly metadata: Pick<O["metadata"], "name"> & Partial<O["metadata"]>;
} & { readonly [K in Exclude<keyof O, "apiVersion" | "kind" | "metadata">]?: DeepPartial<O[K]> };

/** Every field optional, all the way down; arrays are whole. */
export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
    : T;
