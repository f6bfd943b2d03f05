import type { Context, Kind, KubeObject, Live, ObjectRef } from "@quartermaster/runtime";
import { apiError, RecordedApi } from "@quartermaster/testkit";

/** What is watched or read for bundles: the server, and what a reconcile asked to be woken by. */
export class BundleScene {
  readonly api = new RecordedApi();
  /** Objects that the last reconcile followed, e.g. `Secret ns/a`. */
  readonly followed = new Set<string>();
  /** Kinds that it tracked. */
  readonly tracked = new Set<string>();
  /** Objects that may not be watched. */
  readonly forbidden = new Set<string>();
  /** Kinds whose first picture is not there. */
  readonly unsynced = new Set<string>();

  readonly ctx = {
    client: this.api.client,
    signal: new AbortController().signal,
    store: (kind: Kind) => this.#store(kind),
    follow: (kind: Kind, ref: ObjectRef, view: View = {}) => this.#follow(kind, ref, view),
    track: (request: { readonly kind: Kind } & View) => {
      this.tracked.add(request.kind.kind);
      return {
        firstResponse: Promise.resolve(),
        isForbidden: false,
        store: {
          isSynced: true,
          list: () => this.#ofKind(request.kind).map((each) => projected(each, request)),
        },
      };
    },
  } as unknown as Context;

  put(object: KubeObject): Live {
    return this.api.put(object);
  }

  #ofKind({ kind }: Kind): readonly Live[] {
    return this.api.objects.filter((object) => object.kind === kind);
  }

  #store(kind: Kind): object {
    return {
      isSynced: !this.unsynced.has(kind.kind),
      get: (ref: ObjectRef) => this.api.find(kind.kind, ref),
      list: () => this.#ofKind(kind),
      listBy: ({ name }: { readonly name?: string }, key: string) =>
        this.#ofKind(kind).filter(({ metadata: { namespace, ownerReferences = [] } }) =>
          name === "namespace" || namespace === key
            ? namespace === key
            : ownerReferences.some(({ uid }) => uid === key),
        ),
    };
  }

  #follow(kind: Kind, ref: ObjectRef, view: View): KubeObject | undefined {
    const { namespace = "", name } = ref;
    const id = `${kind.kind} ${namespace}/${name}`;
    this.followed.add(id);
    if (this.forbidden.has(id)) throw apiError("forbidden");
    const found = this.api.find(kind.kind, { namespace, name }) ?? this.api.find(kind.kind, { name });
    return found === undefined ? undefined : projected(found, view);
  }
}

interface View {
  readonly projection?: { readonly project: (object: Live) => KubeObject };
}

function projected(object: Live, { projection }: View): KubeObject {
  return projection === undefined ? object : projection.project(object);
}
