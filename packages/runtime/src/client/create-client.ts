import type { Impersonation } from "../config/cluster-config.ts";
import { ApiError } from "../errors.ts";
import type { Kind } from "../object/kind.ts";
import type { KubeObject, Live, ObjectRef } from "../object/kube-object.ts";
import { type ApiRequest, impersonationHeaders } from "../transport/api-request.ts";
import { kindNotServed } from "../transport/response-error.ts";
import type { Transport } from "../transport/transport.ts";
import type {
  Applied,
  ApplyOptions,
  Client,
  DeleteOptions,
  ListOptions,
  ObjectPage,
  Patch,
  RawRequest,
  GetOptions,
  ReadOptions,
  WriteOptions,
} from "./client.ts";
import { conditionalWrites } from "./conditional-writes.ts";
import { cutObject, cutPage, listAll, listRequest, pageOf } from "./list-all.ts";
import { requests } from "./requests.ts";

/** Options of a client. */
export interface ClientOptions {
  readonly transport: Transport;
  /** Impersonate this user from the start (default: as the configuration says). */
  readonly identity?: Impersonation;
}

/**
 * A client on top of shared connections.
 *
 * @example
 * const config = await loadConfig({ system });
 * await using transport = createTransport({ config, system });
 * const client = createClient({ transport });
 */
export function createClient({ transport, identity }: ClientOptions): Client {
  return new TransportClient(transport, identity);
}

/** The client: turns each call into one request. The API server's response is taken to be of the kind requested. */
class TransportClient implements Client {
  readonly #transport: Transport;
  readonly #headers: readonly string[];
  readonly createIfAbsent: Client["createIfAbsent"];
  readonly deleteIfPresent: Client["deleteIfPresent"];

  constructor(transport: Transport, identity?: Impersonation) {
    this.#transport = transport;
    this.#headers = identity === undefined ? [] : impersonationHeaders(identity);
    const { createIfAbsent, deleteIfPresent } = conditionalWrites(this);
    this.createIfAbsent = createIfAbsent;
    this.deleteIfPresent = deleteIfPresent;
  }

  async get<O extends KubeObject>(kind: Kind<O>, ref: ObjectRef, options: GetOptions = {}): Promise<Live<O>> {
    const object = await this.#object<O>(requests.get(kind, ref, options));
    return options.isMetadataOnly === true ? cutObject(kind, object) : object;
  }

  async find<O extends KubeObject>(
    kind: Kind<O>,
    ref: ObjectRef,
    options: GetOptions = {},
  ): Promise<Live<O> | undefined> {
    try {
      return await this.get(kind, ref, options);
    } catch (error) {
      const isMissing = error instanceof ApiError && error.class === "notFound";
      if (isMissing && error.reason !== kindNotServed) return undefined;
      throw error;
    }
  }

  list<O extends KubeObject>(kind: Kind<O>, options: ListOptions = {}): AsyncIterable<Live<O>> {
    return listAll(async (page) => await this.listPage(kind, page), options);
  }

  async listPage<O extends KubeObject>(
    kind: Kind<O>,
    options: ListOptions & { readonly continueToken?: string | undefined } = {},
  ): Promise<ObjectPage<Live<O>>> {
    const page = pageOf(kind, await this.#send(listRequest(kind, options)));
    return options.isMetadataOnly === true ? cutPage(kind, page) : page;
  }

  async create<O extends KubeObject>(kind: Kind<O>, object: O, options: WriteOptions = {}): Promise<Live<O>> {
    return await this.#object<O>(requests.create(kind, object, options));
  }

  async apply<O extends KubeObject>(
    kind: Kind<O>,
    object: Applied<O>,
    options: ApplyOptions & { readonly subresource?: string },
  ): Promise<Live<O>> {
    return await this.#object<O>(requests.apply(kind, object, options));
  }

  async patch<O extends KubeObject>(
    kind: Kind<O>,
    ref: ObjectRef,
    options: WriteOptions & { readonly patch: Patch; readonly subresource?: string },
  ): Promise<Live<O>> {
    return await this.#object<O>(requests.patch(kind, ref, options));
  }

  async replace<O extends KubeObject>(
    kind: Kind<O>,
    object: O,
    options: WriteOptions & { readonly subresource?: string } = {},
  ): Promise<Live<O>> {
    return await this.#object<O>(requests.replace(kind, object, options));
  }

  async delete<O extends KubeObject>(
    kind: Kind<O>,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<void> {
    await this.#send(requests.delete(kind, ref, options));
  }

  async createSubresource(
    kind: Kind,
    ref: ObjectRef,
    options: WriteOptions & { readonly subresource: string; readonly body: unknown },
  ): Promise<unknown> {
    return await this.#send(requests.post(kind, ref, options));
  }

  async getSubresource(
    kind: Kind,
    ref: ObjectRef,
    options: ReadOptions & { readonly subresource: string },
  ): Promise<unknown> {
    return await this.#send(requests.get(kind, ref, options));
  }

  async raw(request: RawRequest): Promise<unknown> {
    return await this.#send(requests.raw(request));
  }

  as(identity: Impersonation): Client {
    return new TransportClient(this.#transport, identity);
  }

  async #send(request: ApiRequest): Promise<unknown> {
    return await this.#transport.send(
      this.#headers.length === 0 ? request : { ...request, headers: this.#headers },
    );
  }

  async #object<O extends KubeObject>(request: ApiRequest): Promise<Live<O>> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server vouches for the kind; checking each field would cost more than the call
    return (await this.#send(request)) as Live<O>;
  }
}
