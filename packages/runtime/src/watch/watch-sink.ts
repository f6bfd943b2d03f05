import type { KubeObject } from "../object/kube-object.ts";

/** Where a reflector puts what it learns. Calls come one after another and must not throw. */
export interface WatchSink {
  /** A new full picture begins. `acceptsOlder`: the cluster's history was set back, older versions are the truth now. */
  beginReplace(options: { readonly acceptsOlder: boolean }): void;
  /** The object is as given. */
  upsert(object: KubeObject): void;
  /** The object is gone; its last state. */
  remove(object: KubeObject): void;
  /** The object is there but cannot be worked with. */
  quarantine(object: KubeObject): void;
  /** The picture is complete and shows this version; what was not delivered is gone. */
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
