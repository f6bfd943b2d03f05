import type { Kind } from "../object/kind.ts";
import type { KubeObject, Live } from "../object/kube-object.ts";
import type { CallOptions, Client, WriteOptions } from "./client.ts";
import { conditionalWrites } from "./conditional-writes.ts";

export interface Adjustment {
  /** The options to read with; throws when nothing may be sent (default: as they are). */
  readonly reading?: (<T extends CallOptions>(options: T) => T) | undefined;
  /** The options to write with; throws when nothing may be sent. */
  readonly writing: <T extends CallOptions>(options: T) => T;
  /** Called with every object that a write returned. */
  readonly onWritten?: ((kind: Kind, object: KubeObject) => void) | undefined;
}

/** The client with every call adjusted, under whatever identity. */
export function adjustClient(client: Client, adjustment: Adjustment): Client {
  const { reading = (options) => options, writing, onWritten } = adjustment;
  const written = <O extends KubeObject>(kind: Kind<O>, object: Live<O>, options: Writing = {}): Live<O> => {
    if (isObject(options)) onWritten?.(kind, object);
    return object;
  };
  const plain: Pick<Client, "create" | "delete"> = {
    create: async (kind, object, options = {}) =>
      written(kind, await client.create(kind, object, writing(options)), options),
    delete: async (kind, ref, options = {}) => {
      await client.delete(kind, ref, writing(options));
    },
  };
  return {
    ...plain,
    ...conditionalWrites(plain),
    get: async (kind, ref, options = {}) => await client.get(kind, ref, reading(options)),
    find: async (kind, ref, options = {}) => await client.find(kind, ref, reading(options)),
    list: (kind, options = {}) => client.list(kind, reading(options)),
    listPage: async (kind, options = {}) => await client.listPage(kind, reading(options)),
    getSubresource: async (kind, ref, options) => await client.getSubresource(kind, ref, reading(options)),
    apply: async (kind, object, options) =>
      written(kind, await client.apply(kind, object, writing(options)), options),
    patch: async (kind, ref, options) =>
      written(kind, await client.patch(kind, ref, writing(options)), options),
    replace: async (kind, object, options = {}) =>
      written(kind, await client.replace(kind, object, writing(options)), options),
    createSubresource: async (kind, ref, options) =>
      await client.createSubresource(kind, ref, writing(options)),
    raw: async (request) => await client.raw(request.method === "GET" ? reading(request) : writing(request)),
    as: (identity) => adjustClient(client.as(identity), adjustment),
  };
}

type Writing = WriteOptions & { readonly subresource?: string };

/** The result of a dry run was not written; the response of a subresource may be of another kind, or partial. */
function isObject({ dryRun, subresource, isMetadataEnough }: Writing): boolean {
  const isWhole = isMetadataEnough !== true && (subresource === undefined || subresource === "status");
  return dryRun !== true && isWhole;
}
