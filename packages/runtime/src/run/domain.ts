import type { Controller } from "../controller/define-controller.ts";
import type { InformerHandle, InformerRequest } from "../informers/informer-pool.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { Log } from "../reconcile/log.ts";
import type { ReadStore } from "../store/object-store.ts";
import type { System } from "../system/system.ts";
import type { DomainSeries } from "../telemetry/domain-series.ts";
import type { Transport } from "../transport/transport.ts";
import type { WebhookRoute } from "../webhook/respond-to-review.ts";
import type { WebhookConfigurationSpec } from "../webhook/webhook-configuration.ts";

/**
 * One part of an operator: kinds that belong together, with the controllers and webhooks behind them. An operator registers
 * domains and knows nothing of their insides.
 */
export interface Domain {
  /** As `--domains` names it. */
  readonly name: string;
  /** Permissions that the domain needs for the operator's own identity; the operator's RBAC is generated from it. */
  readonly permissions: readonly DomainPermission[];
  /** The file that grants them, for messages, e.g. `config/rbac-limited/optional/search.yaml`. */
  readonly grantedBy?: string;
  /** Makes the controllers of one run, and registers their metrics. Called only where the role `controllers` runs. */
  controllers(host: DomainHost): readonly Controller[];
  /** The configurations of its webhooks, as they are called where all namespaces are watched: permissions and manifests are made from it. */
  readonly webhookConfigurations?: readonly ConfigurationName[];
  /** Its webhooks. Called where either role runs: one keeps the configurations, the other serves. */
  webhooks?(host: DomainHost): DomainWebhooks;
}

/**
 * Role of a replica. `controllers` acts under the lease; `webhook` serves the API server, without a lease, on every replica
 * and with an account of its own.
 */
export type OperatorRole = "controllers" | "webhook";

/** A webhook configuration. */
export type ConfigurationName = Pick<WebhookConfigurationSpec, "kind" | "name">;

/** The webhooks of a domain. */
export interface DomainWebhooks {
  /** Kept by the role `controllers`. */
  readonly configurations: readonly WebhookConfigurationSpec[];
  /** Makes the responses, and registers their metrics. Called only where the role `webhook` runs. */
  routes(stores: WebhookStores, serving: WebhookServing): readonly WebhookRoute[];
}

/** How this replica is doing, for metrics. */
export interface WebhookServing {
  /** When its certificate ends; undefined while it has none. */
  certificateExpiresMs(): number | undefined;
  /** How long ago the watch behind one of its stores last heard from the server: that of the quietest one. */
  silentMs(): number;
}

/** Where a webhook's decisions read. */
export interface WebhookStores {
  /** A store that is filled before the replica is ready. */
  readonly store: <O extends KubeObject>(request: InformerRequest<O>) => ReadStore<O>;
  /** Calls back on every change of such objects, e.g. to forget a response that depends on them. The replica is ready after the first picture. */
  readonly onChange: (request: InformerRequest, notify: () => void) => void;
  /** A watch that the decisions open and end as they need it; being ready does not depend on it. */
  readonly watch: <O extends KubeObject>(request: InformerRequest<O>) => InformerHandle<O>;
}

/** One rule of the operator's permissions. */
export interface DomainPermission {
  /** Whose account gets it (default: that of `controllers`). */
  readonly role?: OperatorRole;
  /** Why it is needed; stands above the rule in the generated file. */
  readonly reason: string;
  /** More than every installation should grant: left out of the smallest set of permissions, in a file of its own. */
  readonly isOptional?: true;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Dependencies that a run provides to its domains. */
export interface DomainHost {
  readonly transport: Transport;
  readonly system: System;
  readonly log: Log;
  /** For the domain's own metrics. */
  readonly series: DomainSeries;
  /** Only objects of this namespace (default: all). */
  readonly namespace?: string | undefined;
  /** Objects that each controller works on at the same time. */
  readonly concurrency: number;
  /**
   * The objects that a controller's watch holds now, for metrics. The request has to equal the controller's; empty while no one
   * watches them.
   */
  readonly stored: <O extends KubeObject>(request: InformerRequest<O>) => readonly O[];
}
