import type { JsonObject } from "@quartermaster/runtime";

import type { ImageWish } from "./search-cluster.ts";

/** How a cluster is monitored. */
export interface MonitoringWish {
  /** The exporter's. */
  readonly image: ImageWish;
  readonly resources: JsonObject | undefined;
  /** Secret with the account that the exporter logs in with (default: one of ours that cannot write). */
  readonly userSecret: string | undefined;
  /** E.g. `30s`. */
  readonly scrapeInterval: string;
  /** Of the ServiceMonitor. */
  readonly labels: Readonly<Record<string, string>>;
  readonly relabelings: readonly JsonObject[];
  readonly metricRelabelings: readonly JsonObject[];
  readonly stack: StackWish;
}

/** Who reads the figures. */
export interface StackWish {
  /** Undefined: what the API server serves decides. */
  readonly mode: "None" | "Operator" | "Standalone" | undefined;
  /** Secret with `alertmanager.yaml`. */
  readonly receiversSecret: string | undefined;
  readonly retention: string;
  readonly claimName: string | undefined;
  /** Without it there are dashboards in a ConfigMap, and somebody else draws them. */
  readonly isGrafanaEnabled: boolean;
  /** Namespace of the operator, where it asks this Prometheus (default: it does not). */
  readonly askedFrom?: string | undefined;
  readonly parts: Readonly<Record<StackPart, StackPartWish>>;
}

/** What a standalone stack is made of. */
export type StackPart = "prometheus" | "alertmanager" | "grafana";

/** One of them. */
export interface StackPartWish {
  readonly image: ImageWish;
  readonly resources: JsonObject | undefined;
}
