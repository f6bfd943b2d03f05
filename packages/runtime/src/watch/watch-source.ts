import { listAll, listRequest, pageOf } from "../client/list-all.ts";
import { collectionPath, metadataOnly, requests, withQuery } from "../client/requests.ts";
import { apiVersionOf, type Kind, nameOfKind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { ApiRequest } from "../transport/api-request.ts";
import type { Transport } from "../transport/transport.ts";

/** Which objects are watched, and how much of each. */
export interface WatchTarget {
  readonly kind: Kind;
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Only metadata is sent (default: everything). */
  readonly isMetadataOnly?: boolean | undefined;
  /** Longer strings come empty from the watch, and are never held; lists come whole (default: none is). */
  readonly textLimitBytes?: number | undefined;
}

/** How a stream is requested. */
export interface StreamQuery {
  /** Continue from here; undefined requests everything first (WatchList). */
  readonly resourceVersion: string | undefined;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/** A whole list, page by page as it is consumed. */
export interface Listing {
  readonly objects: AsyncIterable<KubeObject>;
  /** Version of the list; known after the first object or the end. */
  resourceVersion(): string;
}

/** Where a reflector gets objects from. The one edge between the watch's logic and the network. */
export interface WatchSource {
  open(query: StreamQuery): Promise<AsyncIterable<Uint8Array>>;
  /** In pages, or in one piece: costly, but it cannot expire between two pages. */
  list(signal: AbortSignal, how?: { readonly isWhole?: boolean }): Listing;
  /**
   * Throws `ResourceVersionTooLarge` where the server's history does not reach that version, as after etcd was restored from a backup. A watch
   * from such a version is no error: it stays silent until the history has caught up.
   */
  confirmVersion?(resourceVersion: string, signal: AbortSignal): Promise<void>;
}

/** The API server as a source. */
export function transportSource(transport: Transport, target: WatchTarget): WatchSource {
  return {
    open: async (query) => {
      const { kind, namespace, isMetadataOnly = false, textLimitBytes } = target;
      const stream = await transport.openStream(streamPath(target, query), {
        subject: { kind: nameOfKind(kind), ref: namespace === undefined ? undefined : { namespace } },
        signal: query.signal,
        ...(isMetadataOnly ? { accept: metadataOnly("PartialObjectMetadata") } : {}),
        textLimitBytes,
      });
      return stream.body;
    },
    list: (signal, { isWhole = false } = {}) => listFrom(transport, target, { signal, isWhole }),
    confirmVersion: async (resourceVersion, signal) => {
      await transport.send(smallestRead(target, { resourceVersion, signal, timeoutMs: confirmationMs }));
    },
  };
}

/** A server waits three seconds for a version that it does not have. */
const confirmationMs = 10_000;

/** One object at most. Who watches an object by its name may get it, and perhaps not list it. */
function smallestRead(
  { kind, namespace, labelSelector, fieldSelector = noObject }: WatchTarget,
  options: { readonly resourceVersion: string; readonly signal: AbortSignal; readonly timeoutMs: number },
): ApiRequest {
  const [, name] = /^metadata\.name=(.+)$/.exec(fieldSelector) ?? [];
  if (name !== undefined && fieldSelector !== noObject)
    return requests.get(kind, { name, namespace }, { ...options, isMetadataOnly: true });
  const selectors = { fieldSelector, labelSelector };
  return listRequest(kind, { ...options, namespace, ...selectors, isMetadataOnly: true });
}

/** Matches nothing: no name begins with a hyphen. */
const noObject = "metadata.name=-";

function streamPath({ kind, namespace, ...selectors }: WatchTarget, query: StreamQuery): string {
  const { resourceVersion, timeoutSeconds } = query;
  return withQuery(collectionPath(kind, namespace), {
    watch: "true",
    allowWatchBookmarks: "true",
    timeoutSeconds: String(timeoutSeconds),
    labelSelector: selectors.labelSelector,
    fieldSelector: selectors.fieldSelector,
    // Without a version the initial events show the most recent state, as a quorum read would.
    ...(resourceVersion === undefined
      ? { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" }
      : { resourceVersion }),
  });
}

function listFrom(
  transport: Transport,
  target: WatchTarget,
  { signal, isWhole }: { readonly signal: AbortSignal; readonly isWhole: boolean },
): Listing {
  const { kind, isMetadataOnly = false } = target;
  let resourceVersion = "";
  const accept = isMetadataOnly ? { accept: metadataOnly("PartialObjectMetadataList") } : {};
  const objects = listAll(
    async (options) => {
      const page = pageOf(kind, await transport.send({ ...listRequest(kind, options), ...accept }));
      ({ resourceVersion } = page);
      return page;
    },
    { ...selectionOf(target), signal, ...(isWhole ? { pageSize: wholeList } : {}) },
  );
  return { objects, resourceVersion: () => resourceVersion };
}

/** A limit of 0 is none. */
const wholeList = 0;

function selectionOf({ namespace, labelSelector, fieldSelector }: WatchTarget): {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
} {
  return {
    namespace,
    labelSelector,
    fieldSelector,
  };
}

/** A metadata-only object says `PartialObjectMetadata` of itself; it is still one of its kind. */
export function namedAsItsKind<O extends KubeObject>(object: O, kind: Kind): O {
  return object.kind === kind.kind ? object : { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
}

/** Where a reflector puts what it learns. Calls come one after another and must not throw. */
export interface WatchSink {
  /** A new full picture begins. `acceptsOlder`: the cluster's history was set back, older versions are the truth now. */
  beginReplace(options: { readonly acceptsOlder: boolean }): void;
  /** The object is as given. */
  upsert(object: KubeObject): void;
  /** The object no longer exists; its last state. */
  remove(object: KubeObject): void;
  /** The object is there but cannot be worked with. */
  quarantine(object: KubeObject): void;
  /** The picture is complete and shows this version; what was not delivered no longer exists. */
  endReplace(resourceVersion: string): void;
  /** Everything up to this version has been delivered. */
  advance(resourceVersion: string): void;
  /** The kind is not served: there are no objects. */
  clear(): void;
}

/** Hooks for metrics. */
export interface WatchObserver {
  watchRestarted?(event: { readonly kind: string; readonly why: string }): void;
  relisted?(event: { readonly kind: string }): void;
  decodeFailed?(event: { readonly kind: string }): void;
}
