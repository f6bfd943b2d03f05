import {
  type BundleConfigMap,
  bundleConfigMaps,
  type CaBundle,
  caBundleIn,
} from "../certificates/ca-bundle.ts";
import type { ControllerHost } from "../controller/controller-host.ts";
import type { ControllerReport, Term } from "../controller/controller-run.ts";
import type { Controller, LaunchedController } from "../controller/define-controller.ts";
import { classify } from "../errors.ts";
import type { InformerHandle } from "../informers/informer-pool.ts";
import { clusterRoles, namespaces, type WebhookConfiguration } from "../kinds/index.ts";
import { deepEqual } from "../object/deep-equal.ts";
import type { Kind } from "../object/kind.ts";
import type { KubeObject, NamespacedRef } from "../object/kube-object.ts";
import { pause } from "../system/pause.ts";
import { unreachable } from "../unreachable.ts";
import {
  compareConfiguration,
  type ConfigurationFill,
  configurationKinds,
  type ConfigurationOwner,
  configurationStep,
  type ConfigurationStep,
  desiredConfiguration,
  keptState,
  ownedBy,
  waitBeforeWriteMs,
  type WebhookConfigurationSpec,
  type WebhookSpec,
} from "./webhook-configuration.ts";

/** The configuration to keep, and its content. */
export interface ConfigurationControllerOptions extends Omit<ConfigurationFill, "bundlePem"> {
  readonly configurations: readonly WebhookConfigurationSpec[];
  /** The ConfigMap whose `ca.crt` names the CAs that sign for the webhook. */
  readonly bundle: NamespacedRef;
  /** Default: `ca.crt`. */
  readonly bundleKey?: string | undefined;
  /**
   * Name of the ClusterRole that the configurations belong to and are deleted with (default: they belong to the namespace of the
   * bundle). While it does not exist or is being deleted, nothing is registered.
   */
  readonly clusterRole?: string | undefined;
}

/**
 * Keeps the webhook configurations of domains as they are wanted: filled in when a bundle is there, restored when another client edits
 * them, brought up to date with each new bundle, and emptied when no webhook is wanted any more. One that does not exist is created
 * where we may. It acts as controllers do, under the lease: configurations decide upon every request of a cluster, and have one writer.
 */
export function configurationController(options: ConfigurationControllerOptions): Controller {
  return {
    name: "webhookconfigurations",
    concurrency: 1,
    launch: (host) => new ConfigurationKeeper(options, host),
  };
}

/** Everything is looked at again this often, although every change is watched. */
const longestRestMs = 3_600_000;
const [firstRetryMs, longestRetryMs] = [1_000, 60_000];

/** The owner is not watched. It appears a moment after the operator where an installation is repeated. */
const ownerRestMs = 10_000;

/** Of the same webhooks: another client undoes them again and again. */
const writesPerMinute = 5;

/** Between two writes that other webhooks are wanted for: a tenant who switches a label on and off must not keep us busy. */
const changesEveryMs = 500;

class ConfigurationKeeper implements LaunchedController {
  readonly name = "webhookconfigurations";
  readonly #options: ConfigurationControllerOptions;
  readonly #host: ControllerHost;
  readonly #handles = new AsyncDisposableStack();
  readonly #bundles: InformerHandle<BundleConfigMap>;
  readonly #sources = new Map<string, readonly InformerHandle[]>();
  readonly #watched: InformerHandle[] = [];
  readonly #written = new Map<string, Written>();
  #retryMs = firstRetryMs;
  #wake = new AbortController();
  #active = 0;

  constructor(options: ConfigurationControllerOptions, host: ControllerHost) {
    this.#options = options;
    this.#host = host;
    const { namespace, name } = options.bundle;
    this.#bundles = this.#watch(
      host.pool.acquire({ kind: bundleConfigMaps, namespace, fieldSelector: `metadata.name=${name}` }),
    );
    for (const configuration of options.configurations) {
      const fieldSelector = `metadata.name=${configuration.name}`;
      this.#watch(host.pool.acquire({ kind: configurationKinds[configuration.kind], fieldSelector }));
      const requests = "requests" in configuration.webhooks ? configuration.webhooks.requests : [];
      const sources = requests.map((request) => this.#watch(host.pool.acquire(request)));
      this.#sources.set(configuration.name, sources);
    }
  }

  async settled(): Promise<void> {
    for (const handle of this.#watched) await handle.firstResponse;
  }

  async responded(): Promise<void> {
    await this.settled();
  }

  async work({ taking, acting }: Term): Promise<void> {
    while (!taking.aborted) {
      this.#wake = new AbortController();
      this.#active = 1;
      const restMs = await this.#pass(acting);
      this.#active = 0;
      await pause(this.#host.system, restMs, AbortSignal.any([taking, this.#wake.signal]));
    }
  }

  async stop(): Promise<void> {
    await this.#handles.disposeAsync();
  }

  report(): ControllerReport {
    return { name: this.name, queued: 0, active: this.#active, forbidden: [] };
  }

  #watch<O extends KubeObject>(handle: InformerHandle<O>): InformerHandle<O> {
    this.#handles.use(handle);
    this.#watched.push(handle);
    handle.addHandler(() => {
      this.#wake.abort();
    });
    return handle;
  }

  /** Each configuration on its own: one that fails does not hold up the others. Gives how long to rest. */
  async #pass(signal: AbortSignal): Promise<number> {
    let restMs = longestRestMs;
    let hasFailed = false;
    for (const configuration of this.#options.configurations) {
      try {
        restMs = Math.min(restMs, await this.#keep(configuration, signal));
      } catch (error) {
        if (signal.aborted) return 0;
        hasFailed = true;
        configuration.onKept?.("outOfSync");
        this.#report(configuration, error);
      }
    }
    this.#retryMs = hasFailed ? Math.min(2 * this.#retryMs, longestRetryMs) : firstRetryMs;
    return hasFailed ? Math.min(restMs, this.#retryMs) : restMs;
  }

  #report({ name }: WebhookConfigurationSpec, error: unknown): void {
    const code = classify(error);
    const isQuiet = code === "conflict" || code === "alreadyExists" || code === "notFound";
    if (isQuiet) this.#host.log.debug("webhook configuration changed meanwhile", { name, code });
    else this.#host.log.warn("webhook configuration could not be kept", { name, code, err: error });
  }

  async #keep(configuration: WebhookConfigurationSpec, signal: AbortSignal): Promise<number> {
    const kind = configurationKinds[configuration.kind];
    const bundle = this.#bundle();
    const webhooks = this.#webhooksOf(configuration);
    const wanted = desiredConfiguration(
      { ...configuration, webhooks: webhooks ?? [] },
      { ...this.#options, bundlePem: bundle.kind === "bundle" ? bundle.pem : "" },
    );
    const owner = await this.#owner(signal);
    const live = await this.#host.client.find(kind, { name: configuration.name }, { signal });
    const state = {
      isWanted: webhooks === undefined ? undefined : webhooks.length > 0,
      hasBundle: bundle.kind === "bundle",
      live: compareConfiguration(wanted, live, owner),
      isOwnerLeaving: owner.isLeaving,
    };
    const step = configurationStep(state);
    const waitMs = step === "keep" ? 0 : this.#waitMs(wanted);
    if (step !== "keep" && waitMs === 0)
      await this.#perform(step, { configuration, wanted, live, owner, signal });
    configuration.onKept?.(keptState({ ...state, step, isWaiting: waitMs > 0 }));
    if (waitMs > 0) return waitMs;
    return owner.isLeaving ? ownerRestMs : longestRestMs;
  }

  async #perform(
    step: Exclude<ConfigurationStep, "keep">,
    { configuration, wanted, live, owner, signal }: Performance,
  ): Promise<void> {
    const { client, log } = this.#host;
    const kind = configurationKinds[configuration.kind];
    const { name } = configuration;
    switch (step) {
      case "nameTaken":
        log.error("a webhook configuration of this name exists and is not ours", { name });
        return;
      case "create":
        await this.#create(kind, ownedBy(wanted, owner), signal);
        break;
      case "replace":
      case "clear": {
        // What others wrote beside the webhooks stays: labels, annotations, owner references.
        const owned = ownedBy({ ...wanted, metadata: live?.metadata ?? wanted.metadata }, owner);
        await client.replace(kind, owned, { signal });
        break;
      }
      default:
        return unreachable(step);
    }
    this.#noteWrite(wanted);
    log.info("webhook configuration written", { name, action: step });
  }

  /** Only where we may, e.g. outside a cluster: the installation brings the configuration. */
  async #create(
    kind: (typeof configurationKinds)["mutating"],
    wanted: WebhookConfiguration,
    signal: AbortSignal,
  ): Promise<void> {
    const { client } = this.#host;
    try {
      await client.create(kind, wanted, { signal });
    } catch (error) {
      if (classify(error) !== "forbidden") throw error;
      const { name } = wanted.metadata;
      const message = `${kind.kind} ${name} does not exist, and we may not create it: apply the manifest that brings it, empty`;
      throw new Error(message, { cause: error });
    }
  }

  /** Without a uid where we may not see it: the configuration then has to be deleted by hand when the operator is removed. */
  async #owner(signal: AbortSignal): Promise<LiveOwner> {
    const { bundle, clusterRole } = this.#options;
    const kind: Kind = clusterRole === undefined ? namespaces : clusterRoles;
    const name = clusterRole ?? bundle.namespace;
    try {
      const found = await this.#host.client.find(kind, { name }, { signal, isMetadataOnly: true });
      const isLeaving = found === undefined || found.metadata.deletionTimestamp !== undefined;
      return { kind, name, uid: found?.metadata.uid, isLeaving };
    } catch (error) {
      if (classify(error) !== "forbidden") throw error;
      return { kind, name, uid: undefined, isLeaving: false };
    }
  }

  #bundle(): CaBundle {
    const { bundle, bundleKey } = this.#options;
    return caBundleIn(this.#bundles.store.get(bundle), bundleKey);
  }

  #webhooksOf({ name, webhooks }: WebhookConfigurationSpec): readonly WebhookSpec[] | undefined {
    if (!("requests" in webhooks)) return webhooks;
    const sources = this.#sources.get(name) ?? [];
    return webhooks.from(sources.map(({ store }) => (store.isSynced ? store : undefined)));
  }

  /** A client that undoes our write makes us wait; a change of what is wanted, e.g. by another tenant, does not wait for that. */
  #waitMs({ metadata: { name }, webhooks }: WebhookConfiguration): number {
    const nowMs = this.#host.system.monotonicMs();
    const before = this.#written.get(name);
    if (before === undefined) return 0;
    if (!deepEqual(before.webhooks, webhooks))
      return Math.max(0, (before.atMs.at(-1) ?? 0) + changesEveryMs - nowMs);
    const waitMs = waitBeforeWriteMs(before.atMs, { nowMs, limit: writesPerMinute });
    if (waitMs > 0)
      this.#host.log.warn("a webhook configuration is changed again and again by another client", {
        name,
        waitMs,
      });
    return waitMs;
  }

  #noteWrite({ metadata: { name }, webhooks }: WebhookConfiguration): void {
    const before = this.#written.get(name);
    const isSame = before !== undefined && deepEqual(before.webhooks, webhooks);
    const atMs = [...(isSame ? before.atMs.slice(1 - writesPerMinute) : []), this.#host.system.monotonicMs()];
    this.#written.set(name, { webhooks, atMs });
  }
}

/** The last write, and its time. */
interface Written {
  readonly webhooks: WebhookConfiguration["webhooks"];
  readonly atMs: readonly number[];
}

interface LiveOwner extends ConfigurationOwner {
  readonly isLeaving: boolean;
}

interface Performance {
  readonly owner: ConfigurationOwner;
  readonly configuration: WebhookConfigurationSpec;
  readonly wanted: WebhookConfiguration;
  readonly live: WebhookConfiguration | undefined;
  readonly signal: AbortSignal;
}
