import type { Kind, KubeObject } from "@quartermaster/runtime";
import { type ConfigMap, configMaps } from "@quartermaster/runtime/kinds";

import type { MonitoringSettings } from "../model/read-monitoring.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { monitoringLabels, monitoringNames } from "../workload/monitoring-names.ts";
import { ruleFile } from "./alert-rules.ts";
import { grafanaDashboards } from "./grafana-dashboards.ts";
import { type MonitoringKind, monitoringKinds, type MonitoringObject } from "./monitoring-kinds.ts";
import { metadataOf } from "./pod-deployment.ts";
import { scrapeRules } from "./prometheus-files.ts";

/** An object to apply. */
export interface WantedObject {
  readonly kind: Kind;
  readonly object: KubeObject;
}

/** An object of another operator. */
export function objectOf(
  cluster: SearchCluster,
  { kind, name }: { readonly kind: MonitoringKind; readonly name: string },
  {
    spec,
    labels = {},
  }: Pick<MonitoringObject, "spec"> & { readonly labels?: Readonly<Record<string, string>> },
): WantedObject {
  const { group, version } = monitoringKinds[kind];
  const base = metadataOf(cluster, name);
  const object: MonitoringObject = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { ...base, labels: { ...labels, ...monitoringLabels(cluster), ...base.labels } },
    ...(spec === undefined ? {} : { spec }),
  };
  return { kind: monitoringKinds[kind], object };
}

/**
 * Scrape, alerts and dashboards as kinds that are served; as files in ConfigMaps otherwise. A stack of our own reads the files, so it has
 * them in any case.
 */
export function ruleObjects(
  cluster: SearchCluster,
  settings: MonitoringSettings,
  served: ReadonlySet<MonitoringKind>,
): readonly WantedObject[] {
  const isStandalone = settings.stack.mode === "Standalone";
  return [
    ...(served.has("ServiceMonitor") ? [serviceMonitor(cluster, settings)] : []),
    ...(served.has("PrometheusRule") ? [prometheusRule(cluster)] : []),
    ...(served.has("GrafanaDashboard") ? grafanaObjects(cluster) : []),
    ...(served.has("PrometheusRule") && !isStandalone ? [] : [configMapOf(alertsConfigMap(cluster))]),
    ...(served.has("GrafanaDashboard") && !isStandalone ? [] : [configMapOf(dashboardsConfigMap(cluster))]),
  ];
}

function configMapOf(object: ConfigMap): WantedObject {
  return { kind: configMaps, object };
}

function serviceMonitor(cluster: SearchCluster, settings: MonitoringSettings): WantedObject {
  const { scrapeInterval: interval, labels } = settings;
  return objectOf(
    cluster,
    { kind: "ServiceMonitor", name: monitoringNames(cluster).serviceMonitor },
    {
      labels,
      spec: {
        selector: { matchLabels: monitoringLabels(cluster, "exporter") },
        endpoints: [
          {
            port: "metrics",
            interval,
            ...scrapeRules(cluster, settings),
          },
        ],
      },
    },
  );
}

/** Which series are the cluster's. */
export function scopeOf({ namespace, name }: SearchCluster): {
  readonly namespace: string;
  readonly cluster: string;
} {
  return { namespace, cluster: name };
}

function prometheusRule(cluster: SearchCluster): WantedObject {
  const { groups } = ruleFile(scopeOf(cluster));
  return objectOf(
    cluster,
    { kind: "PrometheusRule", name: monitoringNames(cluster).alerts },
    { labels: cluster.monitoring?.labels ?? {}, spec: { groups } },
  );
}

/** For every Grafana that selects dashboards in the customary way. */
function grafanaObjects(cluster: SearchCluster): readonly WantedObject[] {
  return grafanaDashboards(scopeOf(cluster)).map(({ name, model }) =>
    objectOf(
      cluster,
      { kind: "GrafanaDashboard", name: `${monitoringNames(cluster).dashboards}-${name}` },
      {
        spec: {
          instanceSelector: { matchLabels: { dashboards: "grafana" } },
          json: JSON.stringify(model),
        },
      },
    ),
  );
}

/** File of the rules in their ConfigMap. */
const alertsFile = "alerts.json";

/** JSON is YAML: a Prometheus takes the file as it is. */
function alertsConfigMap(cluster: SearchCluster): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(cluster, monitoringNames(cluster).alerts),
    data: { [alertsFile]: JSON.stringify(ruleFile(scopeOf(cluster)), undefined, 2) },
  };
}

/** Found by the sidecar of Grafana's chart. */
function dashboardsConfigMap(cluster: SearchCluster): ConfigMap {
  const base = metadataOf(cluster, monitoringNames(cluster).dashboards);
  const files = grafanaDashboards(scopeOf(cluster)).map(
    ({ name, model }) =>
      [`${cluster.namespace}-${cluster.name}-${name}.json`, JSON.stringify(model, undefined, 2)] as const,
  );
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...base, labels: { ...base.labels, grafana_dashboard: "1" } },
    data: Object.fromEntries(files),
  };
}
