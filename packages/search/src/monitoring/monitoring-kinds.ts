import { defineKind, type JsonObject, type Kind, type KubeObject } from "@quartermaster/runtime";

/** An object of another operator: its spec is written, never read. */
export interface MonitoringObject extends KubeObject {
  readonly spec?: JsonObject;
}

function prometheusKind(kind: string, plural: string): Kind<MonitoringObject> {
  return defineKind<MonitoringObject>({
    group: "monitoring.coreos.com",
    version: "v1",
    kind,
    plural,
    scope: "Namespaced",
  });
}

/** Kinds of prometheus-operator and grafana-operator. Each is used where it is served, and none is needed. */
export const monitoringKinds = {
  ServiceMonitor: prometheusKind("ServiceMonitor", "servicemonitors"),
  PrometheusRule: prometheusKind("PrometheusRule", "prometheusrules"),
  Prometheus: prometheusKind("Prometheus", "prometheuses"),
  Alertmanager: prometheusKind("Alertmanager", "alertmanagers"),
  GrafanaDashboard: defineKind<MonitoringObject>({
    group: "grafana.integreatly.org",
    version: "v1beta1",
    kind: "GrafanaDashboard",
    plural: "grafanadashboards",
    scope: "Namespaced",
  }),
} as const satisfies Readonly<Record<string, Kind<MonitoringObject>>>;

/** One of them. */
export type MonitoringKind = keyof typeof monitoringKinds;

/** All of them by name, in a fixed order. */
export const monitoringKindNames: readonly MonitoringKind[] = [
  "ServiceMonitor",
  "PrometheusRule",
  "Prometheus",
  "Alertmanager",
  "GrafanaDashboard",
];
