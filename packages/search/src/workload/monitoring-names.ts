import type { StackPart } from "../model/read-monitoring.ts";
import type { SearchCluster } from "../model/search-cluster.ts";

/** Names of what monitors a cluster. */
export interface MonitoringNames {
  /** Deployment, Service, ConfigMap and NetworkPolicy of the exporter. */
  readonly exporter: string;
  /** Its login. */
  readonly password: string;
  readonly serviceMonitor: string;
  /** PrometheusRule, or the ConfigMap with the rule file. */
  readonly alerts: string;
  /** ConfigMap with the dashboards; each GrafanaDashboard adds its own name. */
  readonly dashboards: string;
  /** Each part of a stack: Deployment, Service and ConfigMap. */
  readonly stack: Readonly<Record<StackPart, string>>;
  /** Secret with what a Prometheus of prometheus-operator reads besides. */
  readonly scrape: string;
  /** Certificate of the parts of a standalone stack. */
  readonly certificate: string;
  /** Login of Grafana's administrator. */
  readonly grafanaPassword: string;
}

/** The names for one cluster. */
export function monitoringNames({ name }: Pick<SearchCluster, "name">): MonitoringNames {
  return {
    exporter: `${name}-exporter`,
    password: `${name}-monitoring-password`,
    serviceMonitor: `${name}-monitor`,
    alerts: `${name}-alerts`,
    dashboards: `${name}-grafana-dashboards`,
    stack: {
      prometheus: `${name}-prometheus`,
      alertmanager: `${name}-alertmanager`,
      grafana: `${name}-grafana`,
    },
    scrape: `${name}-prometheus-scrape`,
    certificate: `${name}-monitoring-cert`,
    grafanaPassword: `${name}-grafana-password`,
  };
}

/** The account that the exporter logs in with, unless the author names another. */
export const monitoringUser = "quartermaster-monitoring";

export const monitoringRole = "quartermaster_monitoring";

/** Labels that select pods that monitor the cluster. They have no label of the engine's: the Service for clients must not find them. */
export function monitoringLabels(
  { name }: Pick<SearchCluster, "name">,
  part?: "exporter" | StackPart,
): Readonly<Record<string, string>> {
  const all = { "search.quartermaster.dev/monitoring": name };
  return part === undefined ? all : { ...all, "search.quartermaster.dev/monitoring-part": part };
}
