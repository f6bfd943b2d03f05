import type { InformerEvent } from "../informers/informer-event.ts";
import type { InformerPool } from "../informers/informer-pool.ts";
import type { KubeObject } from "../object/kube-object.ts";
import { type BundleTarget, bundlesIn, kindOfTarget } from "./inject-bundle.ts";

/** What is watched, and who is notified. */
export interface BundleWatchOptions {
  readonly informers: InformerPool;
  readonly targets: readonly BundleTarget[];
  /** The target came, came back, or has other bundles than before: by our own hand or somebody else's. */
  readonly onChange: (target: BundleTarget) => void;
}

/** Watches the targets one by one, by name, so that no right to see others is needed. Disposing ends the watches. */
export function watchBundles({ informers, targets, onChange }: BundleWatchOptions): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  for (const target of targets) {
    const handle = stack.use(
      informers.acquire({
        kind: kindOfTarget(target),
        fieldSelector: `metadata.name=${target.name}`,
        projection: bundlesOnly,
      }),
    );
    handle.addHandler((event) => {
      if (isAboutBundles(event)) onChange(target);
    });
  }
  return stack;
}

/** Whether the event may mean that a bundle is not what it should be. */
export function isAboutBundles(event: InformerEvent): boolean {
  if (event.type === "deleted") return false;
  if (event.type === "added") return !event.isInitial;
  return bundlesIn(event.old).join() !== bundlesIn(event.new).join();
}

/** A CustomResourceDefinition can have a megabyte; only where bundles stand is kept. */
const bundlesOnly = {
  name: "bundles",
  project: (object: KubeObject): KubeObject => {
    const { apiVersion, kind, metadata } = object;
    const { name, uid, resourceVersion } = metadata;
    const known = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    const webhooks = bundlesIn(object).map((caBundle, at) => ({
      name: String(at),
      clientConfig: { caBundle },
    }));
    return Object.freeze({ apiVersion, kind, metadata: { name, ...known }, webhooks });
  },
};
