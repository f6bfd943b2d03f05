import type { InformerEvent, InformerHandler } from "../../src/informers/informer-event.ts";
import {
  type InformerHandle,
  informerId,
  type InformerPool,
  type InformerRequest,
} from "../../src/informers/informer-pool.ts";
import { asLive, type KubeObject, type Live, type ObjectMeta } from "../../src/object/kube-object.ts";

/** An informer whose answers the test gives. */
export class FakeInformer {
  readonly request: InformerRequest;
  readonly #handlers: InformerHandler[] = [];
  readonly #first = Promise.withResolvers<undefined>();
  readonly #synced = Promise.withResolvers<undefined>();
  isForbidden = false;
  isSynced = false;
  isOpen = true;
  retries = 0;
  objects: readonly Live[] = [];

  constructor(request: InformerRequest) {
    this.request = request;
  }

  /** The server has listed the objects. */
  async sync(objects: readonly Live[] = []): Promise<void> {
    this.objects = objects;
    this.isSynced = true;
    this.isForbidden = false;
    this.#first.resolve(undefined);
    this.#synced.resolve(undefined);
    await flushed();
  }

  /** The server has said that the kind may not be watched. */
  async forbid(): Promise<void> {
    this.isForbidden = true;
    this.#first.resolve(undefined);
    await flushed();
  }

  emit(event: InformerEvent): void {
    for (const handler of this.#handlers) handler(event);
  }

  handle(): InformerHandle {
    // oxlint-disable-next-line typescript/no-this-alias -- getters of another object read it
    const informer = this;
    const store = {
      get isSynced() {
        return informer.isSynced;
      },
      get: ({ name }: { readonly name: string }) =>
        informer.objects.find(({ metadata }) => metadata.name === name),
      list: () => informer.objects,
    };
    return {
      store,
      firstResponse: this.#first.promise,
      synced: this.#synced.promise,
      get isForbidden() {
        return informer.isForbidden;
      },
      retryNow: () => {
        informer.retries += 1;
      },
      addHandler: (handler: InformerHandler) => informer.#handlers.push(handler),
      [Symbol.asyncDispose]: async () => {
        await Promise.resolve();
        informer.isOpen = false;
      },
    } as unknown as InformerHandle;
  }
}

/** A pool of them: one for each request. */
export class FakePool {
  readonly informers: FakeInformer[] = [];
  readonly #handles = new Map<string, InformerHandle>();

  get pool(): InformerPool {
    const acquire = (request: InformerRequest): InformerHandle => {
      const id = informerId(request);
      const known = this.#handles.get(id);
      if (known !== undefined) return known;
      const informer = new FakeInformer(request);
      this.informers.push(informer);
      const handle = informer.handle();
      this.#handles.set(id, handle);
      return handle;
    };
    return { acquire } as unknown as InformerPool;
  }

  /** The last informer of a kind. */
  of(kind: string): FakeInformer {
    const found = this.informers.findLast(({ request }) => request.kind.kind === kind);
    if (found === undefined) throw new Error(`no informer of ${kind}`);
    return found;
  }
}

/** An object as the server would return it. */
export function aLive(kind: string, metadata: Partial<ObjectMeta> & Pick<ObjectMeta, "name">): Live {
  const object: KubeObject = { apiVersion: "v1", kind, metadata: { namespace: "ns", uid: "u", ...metadata } };
  return asLive(object);
}

async function flushed(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}
