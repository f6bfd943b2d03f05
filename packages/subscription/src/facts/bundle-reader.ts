import { bundle, type Bundle, clusterBundle, type ClusterBundle } from "@quartermaster/api";
import {
  byNamespace,
  type Client,
  type NamespacedRef,
  type ReadStore,
  SharedReads,
  type System,
} from "@quartermaster/runtime";

import { isAlwaysInjected } from "../injection/decide-injection.ts";

/** Where bundles are read. */
export interface BundleReaderOptions {
  readonly bundles: ReadStore<Bundle>;
  readonly clusterBundles: ReadStore<ClusterBundle>;
  readonly client: Client;
  readonly system: Pick<System, "monotonicMs">;
  /** Hook for metrics. */
  readonly onResolved?: ((source: "cache" | "live") => void) | undefined;
}

type ClusterRef = Pick<NamespacedRef, "name">;

/** How long "there is no such bundle" is believed. */
const absentMs = 1_000;
const readTimeoutMs = 5_000;

/** Bundles from the watch. One that is not there yet is looked up once: it may have been created a moment before the pod. */
export class BundleReader {
  readonly #options: BundleReaderOptions;
  readonly #liveBundles: SharedReads<NamespacedRef, Bundle | undefined>;
  readonly #liveClusterBundles: SharedReads<ClusterRef, ClusterBundle | undefined>;

  constructor(options: BundleReaderOptions) {
    this.#options = options;
    const { client, system } = options;
    const kept = { system, limit: 1_000, freshMs: (found: unknown) => (found === undefined ? absentMs : 0) };
    const limits = { timeoutMs: readTimeoutMs };
    this.#liveBundles = new SharedReads<NamespacedRef, Bundle | undefined>({
      ...kept,
      read: async (ref) => await client.find(bundle.kind, ref, limits),
    });
    this.#liveClusterBundles = new SharedReads<ClusterRef, ClusterBundle | undefined>({
      ...kept,
      read: async (ref) => await client.find(clusterBundle.kind, ref, limits),
    });
  }

  /** Bundles of the namespace with the always-inject label. */
  labelledBundles(namespace: string): readonly Bundle[] {
    return this.#options.bundles.listBy(byNamespace, namespace).filter(isAlwaysInjected);
  }

  /** ClusterBundles with the always-inject label. */
  labelledClusterBundles(): readonly ClusterBundle[] {
    return this.#options.clusterBundles.list().filter(isAlwaysInjected);
  }

  /** The Bundle, or undefined when the server says that there is none. */
  async bundle(namespace: string, name: string): Promise<Bundle | undefined> {
    const known = this.#options.bundles.get({ namespace, name });
    this.#options.onResolved?.(known === undefined ? "live" : "cache");
    return known ?? (await this.#liveBundles.get({ namespace, name })).value;
  }

  /** The ClusterBundle, or undefined when the server says that there is none. */
  async clusterBundle(name: string): Promise<ClusterBundle | undefined> {
    const known = this.#options.clusterBundles.get({ name });
    this.#options.onResolved?.(known === undefined ? "live" : "cache");
    return known ?? (await this.#liveClusterBundles.get({ name })).value;
  }
}
