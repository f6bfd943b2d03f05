import { readFile } from "node:fs/promises";

import { z } from "zod";

import type { Client } from "../client/client.ts";
import { classify } from "../errors.ts";
import type { InformerHandle, InformerPool } from "../informers/informer-pool.ts";
import type { NamespacedRef } from "../object/kube-object.ts";
import { type Log, silentLog } from "../reconcile/log.ts";
import { pause } from "../system/pause.ts";
import type { System } from "../system/system.ts";
import { bundleOverlap, type PublishedCa } from "./bundle-overlap.ts";
import { watchBundles } from "./bundle-target.ts";
import { type BundleConfigMap, bundleConfigMaps, bundleKey, type CaBundle, caBundleIn } from "./ca-bundle.ts";

/** Where another program keeps the CAs that sign for us. */
export type CaSource =
  /** A ConfigMap that the platform fills, watched by name. */
  | { readonly kind: "configMap"; readonly ref: NamespacedRef; readonly key: string }
  /** A file, e.g. `ca.crt` of a Secret of cert-manager, read every few seconds. */
  | { readonly kind: "file"; readonly path: string };

export interface RelayedCaOptions {
  readonly source: CaSource;
  /** The ConfigMap that webhook configurations follow; made when it does not exist. */
  readonly target: NamespacedRef;
  readonly client: Client;
  readonly informers: InformerPool;
  readonly system: System;
  readonly fieldManager: string;
  /** How long a CA that has left the source stays trusted (default: 1 h). */
  readonly overlapMs?: number | undefined;
  readonly log?: Log | undefined;
}

/** When published CAs are removed: JSON, fingerprint to time. Delete the ConfigMap to end trust in all old ones. */
const leavingAnnotation = "quartermaster.dev/authorities-leave";

const [fileEveryMs, longestRestMs, retryMs] = [10_000, 3_600_000, 1_000];

/**
 * Publishes the CAs of another client in a ConfigMap of ours, each new one immediately, each old one for an overlap. It runs on
 * every replica of the webhook; they agree without a leader, because `bundleOverlap` never undoes what another published.
 */
export class RelayedCa {
  readonly #options: RelayedCaOptions;
  readonly #log: Log;
  #wake = new AbortController();

  constructor(options: RelayedCaOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLog;
  }

  /** Follows the source until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await using stack = new AsyncDisposableStack();
    const wake = (): void => {
      this.#wake.abort();
    };
    const { informers, target, source } = this.#options;
    stack.use(watchBundles({ informers, targets: [{ kind: "configMap", ...target }], onChange: wake }));
    const watched = source.kind === "configMap" ? stack.use(this.#watch(source.ref)) : undefined;
    watched?.addHandler(wake);
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const restMs = await this.#tryPass(watched, signal);
      await pause(this.#options.system, restMs, AbortSignal.any([signal, this.#wake.signal]));
    }
  }

  #watch({ namespace, name }: NamespacedRef): InformerHandle<BundleConfigMap> {
    const fieldSelector = `metadata.name=${name}`;
    return this.#options.informers.acquire({ kind: bundleConfigMaps, namespace, fieldSelector });
  }

  async #tryPass(watched: InformerHandle<BundleConfigMap> | undefined, signal: AbortSignal): Promise<number> {
    try {
      const source = await this.#read(watched);
      if (source.kind === "bundle") return await this.#publish(source.pem, signal);
      // What is published stays: an injector may be about to fill the source, or to correct it.
      this.#log.warn("CAs cannot be relayed", { why: source.kind });
      return this.#options.source.kind === "file" ? fileEveryMs : longestRestMs;
    } catch (error) {
      if (!signal.aborted)
        this.#log.warn("CAs could not be published", { code: classify(error), err: error });
      return retryMs;
    }
  }

  async #read(watched: InformerHandle<BundleConfigMap> | undefined): Promise<CaBundle> {
    const { source } = this.#options;
    if (source.kind === "file") return bundleInFile(await readFile(source.path, "utf8"));
    await watched?.firstResponse;
    return caBundleIn(watched?.store.get(source.ref), source.key);
  }

  /** Writes only what differs. Gives how long to rest. */
  async #publish(sourcePem: string, signal: AbortSignal): Promise<number> {
    const { client, target, system, fieldManager, overlapMs = 3_600_000 } = this.#options;
    const found = await client.find(bundleConfigMaps, target, { signal });
    const nowMs = system.wallMs();
    const published = publishedIn(found);
    const { nextMs, ...wanted } = bundleOverlap({ sourcePem, published, nowMs, overlapMs });
    if (!isSame(published, wanted)) {
      const metadata = { ...target, annotations: { [leavingAnnotation]: leavingText(wanted) } };
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { [bundleKey]: wanted.pem } };
      await client.apply(bundleConfigMaps, object, { signal, fieldManager, force: true });
      this.#log.info("trusted CAs are announced", { target: target.name });
    }
    const dueMs = nextMs === undefined ? longestRestMs : Math.max(nextMs - nowMs, 100);
    const longestMs = this.#options.source.kind === "file" ? fileEveryMs : longestRestMs;
    return Math.min(dueMs, longestMs);
  }
}

function bundleInFile(text: string): CaBundle {
  const metadata = { name: "file" };
  return caBundleIn({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { [bundleKey]: text } });
}

const times = z.record(z.string(), z.iso.datetime());

/** Content of the ConfigMap; an invalid bundle is ignored. */
export function publishedIn(configMap: BundleConfigMap | undefined): PublishedCa {
  const bundle = caBundleIn(configMap);
  if (bundle.kind !== "bundle") return { pem: "", leavingMs: new Map() };
  const leaving = times.safeParse(jsonOf(configMap?.metadata.annotations?.[leavingAnnotation]));
  const entries = leaving.success ? Object.entries(leaving.data) : [];
  return {
    pem: bundle.pem,
    leavingMs: new Map(entries.map(([fingerprint, time]) => [fingerprint, Date.parse(time)])),
  };
}

function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "{}");
  } catch {
    // It was edited: the times begin again.
    return {};
  }
}

function leavingText({ leavingMs }: PublishedCa): string {
  const entries = [...leavingMs].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(Object.fromEntries(entries.map(([key, ms]) => [key, new Date(ms).toISOString()])));
}

function isSame(one: PublishedCa, other: PublishedCa): boolean {
  return one.pem === other.pem && leavingText(one) === leavingText(other);
}
