import { collectDefaultMetrics, Registry } from "prom-client";

import type { CertificateFilesObserver } from "../certificates/certificate-files.ts";
import type { LeaseObserver } from "../leader/lease-elector.ts";
import type { Telemetry } from "../manager/telemetry.ts";
import type { System } from "../system/system.ts";
import type { Observation, Retry } from "../transport/transport.ts";
import type { WebhookObserver } from "../webhook/request-handler.ts";
import { controllerMetrics, type MeasuredController } from "./controller-metrics.ts";
import { type DomainSeries, domainSeries } from "./domain-series.ts";
import { certificateMetrics, leaderMetrics } from "./leader-metrics.ts";
import { queueMetrics } from "./queue-metrics.ts";
import { requestMetrics, retryMetrics } from "./request-metrics.ts";
import { watchMetrics } from "./watch-metrics.ts";
import { webhookMetrics } from "./webhook-metrics.ts";

/** Options of metrics. Everything named here has its series from the start, at 0. */
export interface MetricsOptions {
  readonly system: System;
  readonly controllers?: readonly MeasuredController[];
  /** Paths of webhooks. */
  readonly webhooks?: readonly string[];
  /** Names of leases. */
  readonly leases?: readonly string[];
  /** CPU, memory, event-loop delay and garbage collection of this process (default: true). */
  readonly processMetrics?: boolean;
}

/** Hooks for every part of the runtime, and the page that shows what they counted. */
export interface Metrics {
  /** For the manager. */
  readonly telemetry: Telemetry;
  /** For the transport. */
  readonly observe: (observation: Observation) => void;
  /** For the transport too. */
  readonly observeRetry: (retry: Retry) => void;
  /** For the webhook server. */
  readonly webhooks: WebhookObserver;
  /** For the elector. */
  readonly leases: LeaseObserver;
  /** For certificate files. */
  readonly certificates: CertificateFilesObserver;
  /** Gives controllers that are made later their series, at 0. */
  readonly measure: (controllers: readonly MeasuredController[]) => void;
  /** Gives webhooks that are made later their series, at 0; by path. */
  readonly measureWebhooks: (paths: readonly string[]) => void;
  /** For series of domains. */
  readonly series: DomainSeries;
  readonly contentType: string;
  /** In Prometheus' text format. */
  render(): Promise<string>;
}

/**
 * Metrics under controller-runtime's names, so that dashboards made for it work.
 *
 * @example
 * const metrics = createMetrics({ system, controllers: [{ name: "copy" }] });
 * const transport = createTransport({ config, system, observe: metrics.observe });
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const { system, controllers = [], webhooks = [], leases = [], processMetrics = true } = options;
  const registry = new Registry();
  if (processMetrics) collectDefaultMetrics({ register: registry });
  const reconciles = controllerMetrics(registry);
  const queues = queueMetrics(registry, system);
  const measure: Metrics["measure"] = (measured) => {
    for (const controller of measured) {
      reconciles.initialise(controller);
      queues.initialise(controller.name);
    }
  };
  measure(controllers);
  const reviews = webhookMetrics(registry);
  reviews.initialise(webhooks);
  return {
    telemetry: { ...reconciles.hooks, ...queues.hooks, ...watchMetrics(registry) },
    measure,
    observe: requestMetrics(registry),
    observeRetry: retryMetrics(registry),
    webhooks: reviews.hooks,
    measureWebhooks: reviews.initialise,
    leases: leaderMetrics(registry, leases),
    certificates: certificateMetrics(registry),
    series: domainSeries(registry),
    contentType: registry.contentType,
    render: async () => await registry.metrics(),
  };
}
