import type { JsonObject } from "@quartermaster/runtime";

import { imageOf, nameIn, present } from "./pod-settings.ts";
import type { ClusterObject } from "./read-cluster.ts";
import type { ImageSettings } from "./search-cluster.ts";

/** How a cluster is monitored. */
export interface MonitoringSettings {
  /** The exporter's. */
  readonly image: ImageSettings;
  readonly resources: JsonObject | undefined;
  /** Secret with the account that the exporter logs in with (default: one of ours that cannot write). */
  readonly userSecret: string | undefined;
  /** E.g. `30s`. */
  readonly scrapeInterval: string;
  /** Of the ServiceMonitor. */
  readonly labels: Readonly<Record<string, string>>;
  readonly relabelings: readonly JsonObject[];
  readonly metricRelabelings: readonly JsonObject[];
  readonly stack: StackSettings;
}

/** Who reads the metrics. */
export interface StackSettings {
  /** Undefined: what the API server serves decides. */
  readonly mode: "None" | "Operator" | "Standalone" | undefined;
  /** Secret with `alertmanager.yaml`. */
  readonly receiversSecret: string | undefined;
  readonly retention: string;
  readonly claimName: string | undefined;
  /** Without it there are dashboards in a ConfigMap, and another program draws them. */
  readonly isGrafanaEnabled: boolean;
  /** Namespace of the operator, where it queries this Prometheus (default: it does not). */
  readonly queriedFrom?: string | undefined;
  readonly parts: Readonly<Record<StackPart, StackPartSettings>>;
}

export type StackPart = "prometheus" | "alertmanager" | "grafana";

/** One of them. */
export interface StackPartSettings {
  readonly image: ImageSettings;
  readonly resources: JsonObject | undefined;
}

type MonitoringSpec = ClusterObject["spec"]["general"]["monitoring"];
type StackSpec = NonNullable<MonitoringSpec>["stack"];

/** The image that `make image ARGS="--image search-exporter"` writes; operators may name another one for all clusters. */
export const exporterImage = "quartermaster.local/search-exporter:0.0.0";

/** Images of a standalone stack, where the author names no others. */
export const stackImages: Readonly<Record<StackPart, string>> = {
  prometheus: "docker.io/prom/prometheus:v3.5.0",
  alertmanager: "docker.io/prom/alertmanager:v0.28.1",
  grafana: "docker.io/grafana/grafana:12.1.1",
};

/** How the cluster is monitored; undefined where it is not. */
export function readMonitoring(spec: MonitoringSpec): MonitoringSettings | undefined {
  if (spec?.enable !== true) return undefined;
  const { labels = {}, relabelings = [], metricRelabelings = [], resources } = spec;
  return {
    image: imageOf(spec, exporterImage),
    resources,
    userSecret: present(spec.monitoringUserSecret),
    scrapeInterval: present(spec.scrapeInterval) ?? "30s",
    labels,
    relabelings,
    metricRelabelings,
    stack: readStack(spec.stack),
  };
}

function readStack(spec: StackSpec): StackSettings {
  return {
    mode: spec?.mode,
    receiversSecret: nameIn(spec?.receivers),
    retention: spec?.retention ?? "15d",
    claimName: present(spec?.claimName),
    isGrafanaEnabled: spec?.grafana?.enable ?? true,
    parts: {
      prometheus: readPart("prometheus", spec),
      alertmanager: readPart("alertmanager", spec),
      grafana: readPart("grafana", spec),
    },
  };
}

function readPart(part: StackPart, spec: StackSpec): StackPartSettings {
  const settings = spec?.[part];
  return { image: imageOf(settings ?? {}, stackImages[part]), resources: settings?.resources };
}
