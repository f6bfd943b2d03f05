import type {
  Applied,
  ApplyOptions,
  CallOptions,
  Client,
  DeleteOptions,
  Impersonation,
  ListOptions,
  ObjectPage,
  Patch,
  RawRequest,
  ReadOptions,
  WriteOptions,
} from "../client/client.ts";
import type { Kind } from "../object/kind.ts";
import type { KubeObject, ObjectRef } from "../object/kube-object.ts";

/** What fences a client in. */
export interface Fence {
  /** Once it aborts, running calls end and new ones are refused before anything is sent. */
  readonly signal: AbortSignal;
  /** Told of every object that a write brought back. */
  readonly onWritten?: (kind: Kind, object: KubeObject) => void;
}

/**
 * A client that ends with its pass: nothing is written after the deadline, after leadership was lost or after the manager
 * announced its end, even by code that ignores its signal.
 */
export class FencedClient implements Client {
  readonly #client: Client;
  readonly #fence: Fence;

  constructor(client: Client, fence: Fence) {
    this.#client = client;
    this.#fence = fence;
  }

  async get<O extends KubeObject>(kind: Kind<O>, ref: ObjectRef, options?: ReadOptions): Promise<O> {
    return await this.#client.get(kind, ref, this.#within(options));
  }

  async find<O extends KubeObject>(
    kind: Kind<O>,
    ref: ObjectRef,
    options?: ReadOptions,
  ): Promise<O | undefined> {
    return await this.#client.find(kind, ref, this.#within(options));
  }

  list<O extends KubeObject>(kind: Kind<O>, options?: ListOptions): AsyncIterable<O> {
    return this.#client.list(kind, this.#within(options));
  }

  async listPage<O extends KubeObject>(
    kind: Kind<O>,
    options?: ListOptions & { readonly continueToken?: string },
  ): Promise<ObjectPage<O>> {
    return await this.#client.listPage(kind, this.#within(options));
  }

  async create<O extends KubeObject>(kind: Kind<O>, object: O, options?: WriteOptions): Promise<O> {
    return this.#written(kind, await this.#client.create(kind, object, this.#within(options)), options);
  }

  async apply<O extends KubeObject>(
    kind: Kind<O>,
    object: Applied<O>,
    options: ApplyOptions & { readonly subresource?: string },
  ): Promise<O> {
    return this.#written(kind, await this.#client.apply(kind, object, this.#within(options)), options);
  }

  async patch<O extends KubeObject>(
    kind: Kind<O>,
    ref: ObjectRef,
    options: WriteOptions & { readonly patch: Patch; readonly subresource?: string },
  ): Promise<O> {
    return this.#written(kind, await this.#client.patch(kind, ref, this.#within(options)), options);
  }

  async replace<O extends KubeObject>(
    kind: Kind<O>,
    object: O,
    options?: WriteOptions & { readonly subresource?: string },
  ): Promise<O> {
    return this.#written(kind, await this.#client.replace(kind, object, this.#within(options)), options);
  }

  async delete<O extends KubeObject>(kind: Kind<O>, ref: ObjectRef, options?: DeleteOptions): Promise<void> {
    await this.#client.delete(kind, ref, this.#within(options));
  }

  async createSubresource(
    kind: Kind,
    ref: ObjectRef,
    options: WriteOptions & { readonly subresource: string; readonly body: unknown },
  ): Promise<unknown> {
    return await this.#client.createSubresource(kind, ref, this.#within(options));
  }

  async getSubresource(
    kind: Kind,
    ref: ObjectRef,
    options: ReadOptions & { readonly subresource: string },
  ): Promise<unknown> {
    return await this.#client.getSubresource(kind, ref, this.#within(options));
  }

  async raw(request: RawRequest): Promise<unknown> {
    return await this.#client.raw(this.#within(request));
  }

  as(identity: Impersonation): Client {
    return new FencedClient(this.#client.as(identity), this.#fence);
  }

  #within<T extends CallOptions>(options: T | undefined): T & { readonly signal: AbortSignal } {
    const { signal } = this.#fence;
    signal.throwIfAborted();
    const own = options?.signal;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all options are optional where they may be left out
    return { ...options, signal: own === undefined ? signal : AbortSignal.any([own, signal]) } as T & {
      readonly signal: AbortSignal;
    };
  }

  /** What only a dry run brought back was not written; what a subresource answers with may be of another kind. */
  #written<O extends KubeObject>(
    kind: Kind<O>,
    object: O,
    options: (WriteOptions & { readonly subresource?: string }) | undefined,
  ): O {
    const isObject = options?.subresource === undefined || options.subresource === "status";
    if (options?.dryRun !== true && isObject) this.#fence.onWritten?.(kind, object);
    return object;
  }
}
