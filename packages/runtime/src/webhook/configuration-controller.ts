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
import { namespaces, type WebhookConfiguration } from "../kinds/index.ts";
import type { KubeObject, ObjectMeta, ObjectRef } from "../object/kube-object.ts";
import { unreachable } from "../unreachable.ts";
import {
  compareConfiguration,
  type ConfigurationFill,
  configurationKinds,
  configurationStep,
  type ConfigurationStep,
  desiredConfiguration,
  keptState,
  ownedByNamespace,
  waitBeforeWriteMs,
  type WantedWhile,
  type WebhookConfigurationSpec,
} from "./webhook-configuration.ts";

/** What is kept, and what it is filled in with. */
export interface ConfigurationControllerOptions extends Omit<ConfigurationFill, "bundlePem"> {
  readonly configurations: readonly WebhookConfigurationSpec[];
  /** The ConfigMap whose `ca.crt` names the authorities that sign for the webhook. */
  readonly bundle: Required<ObjectRef>;
  /** Default: `ca.crt`. */
  readonly bundleKey?: string;
}

/**
 * Keeps the webhook configurations of domains as they are wanted: created when a bundle is there, restored when somebody edits
 * or deletes them, brought up to date with each new bundle, and deleted whole when they are not wanted any more. It acts
 * as controllers do, under the lease: configurations decide upon every request of a cluster, and have one writer.
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

/** For each configuration. */
const writesPerMinute = 5;

class ConfigurationKeeper implements LaunchedController {
  readonly name = "webhookconfigurations";
  readonly #options: ConfigurationControllerOptions;
  readonly #host: ControllerHost;
  readonly #handles = new AsyncDisposableStack();
  readonly #bundles: InformerHandle<BundleConfigMap>;
  readonly #conditions = new Map<WantedWhile, InformerHandle>();
  readonly #watched: InformerHandle[] = [];
  readonly #writtenMs: number[] = [];
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
      for (const condition of configuration.wantedWhile ?? [])
        this.#conditions.set(condition, this.#watch(host.pool.acquire(condition.request)));
    }
  }

  async settled(): Promise<void> {
    for (const handle of this.#watched) await handle.firstResponse;
  }

  async answered(): Promise<void> {
    await this.settled();
  }

  async work({ taking, acting }: Term): Promise<void> {
    while (!taking.aborted) {
      this.#wake = new AbortController();
      this.#active = 1;
      const restMs = await this.#pass(acting);
      this.#active = 0;
      await this.#rest(restMs, taking);
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

  /** Each configuration by itself: one that fails does not hold up the others. Gives how long to rest. */
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
    const wanted = desiredConfiguration(configuration, {
      ...this.#options,
      bundlePem: bundle.kind === "bundle" ? bundle.pem : "",
    });
    const live = await this.#host.client.find(kind, { name: configuration.name }, { signal });
    const state = {
      isWanted: this.#isWanted(configuration),
      hasBundle: bundle.kind === "bundle",
      live: compareConfiguration(wanted, live),
    };
    const step = configurationStep(state);
    const waitMs = step === "keep" ? 0 : this.#waitMs();
    if (step !== "keep" && waitMs === 0) await this.#perform(step, { configuration, wanted, live, signal });
    configuration.onKept?.(keptState({ step, live: state.live, isWaiting: waitMs > 0 }));
    return waitMs > 0 ? waitMs : longestRestMs;
  }

  async #perform(
    step: Exclude<ConfigurationStep, "keep">,
    { configuration, wanted, live, signal }: Performance,
  ): Promise<void> {
    const { client, log } = this.#host;
    const kind = configurationKinds[configuration.kind];
    const { name } = configuration;
    const { uid = "", resourceVersion = "" } = live?.metadata ?? {};
    switch (step) {
      case "nameTaken":
        log.error("a webhook configuration of this name exists and is not ours", { name });
        return;
      case "create":
        await client.create(kind, ownedByNamespace(wanted, await this.#namespace(signal)), { signal });
        break;
      case "replace":
        await client.replace(kind, withMetadata(wanted, live?.metadata ?? wanted.metadata), { signal });
        break;
      case "delete":
        await client.delete(kind, { name }, { signal, preconditions: { uid, resourceVersion } });
        break;
      default:
        return unreachable(step);
    }
    this.#writtenMs.push(this.#host.system.monotonicMs());
    log.info("webhook configuration written", { name, action: step });
  }

  /** Undefined where we may not see it: the configuration then has to be deleted by hand when the operator goes. */
  async #namespace(signal: AbortSignal): Promise<KubeObject | undefined> {
    const { namespace: name } = this.#options.bundle;
    try {
      return await this.#host.client.find(namespaces, { name }, { signal, isMetadataOnly: true });
    } catch (error) {
      if (classify(error) !== "forbidden") throw error;
      return undefined;
    }
  }

  #bundle(): CaBundle {
    const { bundle, bundleKey } = this.#options;
    return caBundleIn(this.#bundles.store.get(bundle), bundleKey);
  }

  #isWanted({ wantedWhile }: WebhookConfigurationSpec): boolean | undefined {
    const holding = wantedWhile?.map((condition) => {
      const store = this.#conditions.get(condition)?.store;
      return store?.isSynced === true ? condition.holds(store) : undefined;
    });
    if (holding === undefined || holding.includes(true)) return true;
    return holding.includes(undefined) ? undefined : false;
  }

  #waitMs(): number {
    const limit = writesPerMinute * this.#options.configurations.length;
    const waitMs = waitBeforeWriteMs(this.#writtenMs, { nowMs: this.#host.system.monotonicMs(), limit });
    this.#writtenMs.splice(0, this.#writtenMs.length - limit);
    if (waitMs > 0)
      this.#host.log.warn("webhook configurations are changed again and again by somebody else", { waitMs });
    return waitMs;
  }

  async #rest(restMs: number, taking: AbortSignal): Promise<void> {
    const woken = AbortSignal.any([taking, this.#wake.signal]);
    try {
      await this.#host.system.sleep(restMs, woken);
    } catch (error) {
      if (!woken.aborted) throw error;
    }
  }
}

interface Performance {
  readonly configuration: WebhookConfigurationSpec;
  readonly wanted: WebhookConfiguration;
  readonly live: WebhookConfiguration | undefined;
  readonly signal: AbortSignal;
}

/** What others wrote beside the webhooks stays: labels, annotations, owner references. */
function withMetadata(object: WebhookConfiguration, metadata: ObjectMeta): WebhookConfiguration {
  return { ...object, metadata };
}
