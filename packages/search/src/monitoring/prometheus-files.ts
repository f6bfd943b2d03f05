import type { JsonObject } from "@quartermaster/runtime";

import { exporterPort } from "../exporter/exporter-config.ts";
import type { MonitoringSettings, StackPart } from "../model/read-monitoring.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { monitoringNames } from "../workload/monitoring-names.ts";

/** Ports that the parts of a stack serve; the customary ones. */
export const stackPorts: Readonly<Record<StackPart, number>> = {
  prometheus: 9090,
  alertmanager: 9093,
  grafana: 3000,
};

/** Where a Prometheus finds the exporter: by its Service's name, so that it needs no permission to discover anything. */
export function scrapeConfigs(cluster: SearchCluster, settings: MonitoringSettings): readonly JsonObject[] {
  const { relabelings, metricRelabelings } = scrapeRules(cluster, settings);
  return [
    {
      job_name: `${cluster.name}-exporter`,
      scrape_interval: settings.scrapeInterval,
      static_configs: [
        {
          targets: [hostOf(cluster, monitoringNames(cluster).exporter, exporterPort)],
          labels: { namespace: cluster.namespace },
        },
      ],
      relabel_configs: relabelings.map(asPrometheusRule),
      metric_relabel_configs: metricRelabelings.map(asPrometheusRule),
    },
  ];
}

/**
 * The author's rules, and after them ours: whatever a rule dropped or renamed, a series ends with the namespace and the cluster that it
 * comes from. Targets get the namespace too, because `up` and the like pass no rules for metrics. They get no cluster: the exporter
 * says that itself, and Prometheus would keep a second label for it.
 */
export function scrapeRules(
  { namespace, name }: Pick<SearchCluster, "namespace" | "name">,
  { relabelings, metricRelabelings }: Pick<MonitoringSettings, "relabelings" | "metricRelabelings">,
): Pick<MonitoringSettings, "relabelings" | "metricRelabelings"> {
  const ours = { action: "replace", targetLabel: "namespace", replacement: namespace };
  return {
    relabelings: [...relabelings, ours],
    metricRelabelings: [...metricRelabelings, ours, { ...ours, targetLabel: "cluster", replacement: name }],
  };
}

/** ServiceMonitors say `sourceLabels` where Prometheus says `source_labels`. */
function asPrometheusRule(rule: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(rule).map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** Where it sends alerts. */
export function alertmanagerConfigs(cluster: SearchCluster): readonly JsonObject[] {
  const target = hostOf(cluster, monitoringNames(cluster).stack.alertmanager, stackPorts.alertmanager);
  return [{ static_configs: [{ targets: [target] }] }];
}

/** Where the parts of a standalone stack find their certificate and whom they trust. */
export const stackCertificate = {
  directory: "/etc/monitoring-certificate",
  certificate: "/etc/monitoring-certificate/tls.crt",
  key: "/etc/monitoring-certificate/tls.key",
  ca: "/etc/monitoring-certificate/ca.crt",
} as const;

/** The file for `--web.config.file`. Prometheus and Alertmanager read the certificate again for each connection: renewal restarts no one. */
export const webFile: string = JSON.stringify(
  {
    tls_server_config: {
      cert_file: stackCertificate.certificate,
      key_file: stackCertificate.key,
      min_version: "TLS12",
    },
  },
  undefined,
  2,
);

/** The Alertmanager of a standalone stack: its certificate is verified. */
function verifiedAlertmanagers(cluster: SearchCluster): readonly JsonObject[] {
  const { alertmanager } = monitoringNames(cluster).stack;
  return alertmanagerConfigs(cluster).map((config) => ({
    scheme: "https",
    tls_config: {
      ca_file: stackCertificate.ca,
      server_name: `${alertmanager}.${cluster.namespace}.svc`,
    },
    ...config,
  }));
}

/** Address of a Service of the cluster's namespace. */
export function hostOf({ namespace }: SearchCluster, service: string, port: number): string {
  return `${service}.${namespace}.svc:${String(port)}`;
}

/** Files of a Prometheus of ours. JSON is YAML, and nothing that an author writes can leave its place in it. */
export function prometheusFiles(
  cluster: SearchCluster,
  settings: MonitoringSettings,
): Readonly<Record<string, string>> {
  const config = {
    global: { scrape_interval: settings.scrapeInterval, evaluation_interval: "30s" },
    rule_files: ["/etc/prometheus-rules/*.json"],
    alerting: { alertmanagers: verifiedAlertmanagers(cluster) },
    scrape_configs: scrapeConfigs(cluster, settings),
  };
  return { "prometheus.json": JSON.stringify(config, undefined, 2), "web.json": webFile };
}

/** Shows alerts and sends them to no one. */
export const silentAlertmanager: string = JSON.stringify(
  {
    route: { receiver: "nobody", group_by: ["namespace", "cluster", "alertname"] },
    receivers: [{ name: "nobody" }],
  },
  undefined,
  2,
);
