import { Counter, Gauge, Histogram, type Registry } from "prom-client";

import type { WebhookObserver } from "../webhook/request-handler.ts";
import { webhookBuckets } from "./request-buckets.ts";

/** The series `controller_runtime_webhook_*`; those of the paths given to `initialise` exist from then on, at 0. */
export function webhookMetrics(registry: Registry): {
  readonly hooks: WebhookObserver;
  readonly initialise: (paths: readonly string[]) => void;
} {
  const series = seriesIn(registry);
  const hooks: WebhookObserver = {
    webhookStarted: ({ webhook }) => {
      series.inFlight.inc({ webhook });
    },
    webhookFinished: ({ webhook, code, durationMs }) => {
      series.inFlight.dec({ webhook });
      series.requests.inc({ webhook, code: String(code) });
      series.latency.observe({ webhook }, durationMs / 1_000);
    },
    webhookFailed: ({ review }) => {
      series.panics[review].inc();
    },
  };
  const initialise = (paths: readonly string[]): void => {
    for (const webhook of paths) {
      series.latency.zero({ webhook });
      series.inFlight.set({ webhook }, 0);
      for (const code of ["200", "500"]) series.requests.inc({ webhook, code }, 0);
    }
  };
  return { hooks, initialise };
}

function seriesIn(registry: Registry) {
  const registers = [registry];
  const name = (end: string): string => `controller_runtime_${end}`;
  return {
    latency: new Histogram({
      name: name("webhook_latency_seconds"),
      help: "Histogram of the latency of processing admission requests",
      labelNames: ["webhook"],
      buckets: webhookBuckets,
      registers,
    }),
    requests: new Counter({
      name: name("webhook_requests_total"),
      help: "Total number of admission requests by HTTP status code.",
      labelNames: ["webhook", "code"],
      registers,
    }),
    inFlight: new Gauge({
      name: name("webhook_requests_in_flight"),
      help: "Current number of admission requests being served.",
      labelNames: ["webhook"],
      registers,
    }),
    panics: {
      admission: new Counter({
        name: name("webhook_panics_total"),
        help: "Total number of webhook panics",
        registers,
      }),
      conversion: new Counter({
        name: name("conversion_webhook_panics_total"),
        help: "Total number of conversion webhook panics",
        registers,
      }),
    },
  };
}
