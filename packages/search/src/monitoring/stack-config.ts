import type { JsonObject } from "@quartermaster/runtime";

import { exporterPort } from "../exporter/exporter-config.ts";
import type { MonitoringWish, SearchCluster, StackPart } from "../model/search-cluster.ts";
import { monitoringNames } from "../workload/monitoring-names.ts";

/** Ports that the parts of a stack serve; the customary ones. */
export const stackPorts: Readonly<Record<StackPart, number>> = {
  prometheus: 9090,
  alertmanager: 9093,
  grafana: 3000,
};

/** Where a Prometheus finds the exporter: by its Service's name, so that it needs no permission to discover anything. */
export function scrapeConfigs(
  cluster: SearchCluster,
  { relabelings, metricRelabelings, scrapeInterval }: MonitoringWish,
): readonly JsonObject[] {
  return [
    {
      job_name: `${cluster.name}-exporter`,
      scrape_interval: scrapeInterval,
      static_configs: [
        {
          targets: [hostOf(cluster, monitoringNames(cluster).exporter, exporterPort)],
          labels: { namespace: cluster.namespace },
        },
      ],
      ...(relabelings.length === 0 ? {} : { relabel_configs: relabelings.map(inPrometheusWords) }),
      ...(metricRelabelings.length === 0
        ? {}
        : { metric_relabel_configs: metricRelabelings.map(inPrometheusWords) }),
    },
  ];
}

/** ServiceMonitors say `sourceLabels` where Prometheus says `source_labels`. */
function inPrometheusWords(rule: JsonObject): JsonObject {
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

function hostOf({ namespace }: SearchCluster, service: string, port: number): string {
  return `${service}.${namespace}.svc:${String(port)}`;
}

/** Files of a Prometheus of ours. JSON is YAML, and nothing that an author writes can leave its place in it. */
export function prometheusFiles(
  cluster: SearchCluster,
  wish: MonitoringWish,
): Readonly<Record<string, string>> {
  const config = {
    global: { scrape_interval: wish.scrapeInterval, evaluation_interval: "30s" },
    rule_files: ["/etc/prometheus-rules/*.json"],
    alerting: { alertmanagers: alertmanagerConfigs(cluster) },
    scrape_configs: scrapeConfigs(cluster, wish),
  };
  return { "prometheus.json": JSON.stringify(config, undefined, 2) };
}

/** Shows alerts and sends them to nobody. */
export const silentAlertmanager: string = JSON.stringify(
  {
    route: { receiver: "nobody", group_by: ["namespace", "cluster", "alertname"] },
    receivers: [{ name: "nobody" }],
  },
  undefined,
  2,
);

/** Files of a Grafana of ours. The login is read from its files, never from a variable. */
export function grafanaFiles(cluster: SearchCluster): Readonly<Record<string, string>> {
  const prometheus = hostOf(cluster, monitoringNames(cluster).stack.prometheus, stackPorts.prometheus);
  const datasources = {
    apiVersion: 1,
    datasources: [
      {
        name: "Prometheus",
        uid: "prometheus",
        type: "prometheus",
        access: "proxy",
        url: `http://${prometheus}`,
        isDefault: true,
        editable: false,
      },
    ],
  };
  const providers = {
    apiVersion: 1,
    providers: [
      {
        name: "quartermaster",
        type: "file",
        allowUiUpdates: false,
        options: { path: "/etc/grafana-dashboards" },
      },
    ],
  };
  return {
    "grafana.ini": grafanaIni,
    "datasources.yaml": JSON.stringify(datasources, undefined, 2),
    "dashboards.yaml": JSON.stringify(providers, undefined, 2),
  };
}

const grafanaIni = `[paths]
data = /var/lib/grafana
plugins = /var/lib/grafana/plugins
provisioning = /etc/grafana-provisioning

[server]
http_port = ${String(stackPorts.grafana)}

[security]
admin_user = $__file{/etc/grafana-login/username}
admin_password = $__file{/etc/grafana-login/password}
disable_gravatar = true

[users]
allow_sign_up = false

[auth.anonymous]
enabled = false

[analytics]
reporting_enabled = false
check_for_updates = false
check_for_plugin_updates = false

[log]
mode = console
`;
