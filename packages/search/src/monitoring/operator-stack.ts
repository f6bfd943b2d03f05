import { type Secret, secrets, type Service, services } from "@quartermaster/runtime/kinds";

import type { MonitoringSettings } from "../model/read-monitoring.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { encode } from "../secret-text.ts";
import { monitoringLabels, monitoringNames } from "../workload/monitoring-names.ts";
import type { MonitoringKind } from "./monitoring-kinds.ts";
import { metadataOf } from "./pod-deployment.ts";
import { alertmanagerConfigs, scrapeConfigs, silentAlertmanager, stackPorts } from "./prometheus-files.ts";
import { objectOf, type WantedObject } from "./rule-objects.ts";

/**
 * Prometheus and Alertmanager as objects of prometheus-operator. They find the exporter and each other by the names of Services, so that
 * no account has to be given permissions. Nothing where the API is not served.
 */
export function operatorStack(
  cluster: SearchCluster,
  settings: MonitoringSettings,
  served: ReadonlySet<MonitoringKind>,
): readonly WantedObject[] {
  if (!served.has("Prometheus") || !served.has("Alertmanager")) return [];
  return [
    { kind: secrets, object: scrapeSecret(cluster, settings) },
    { kind: services, object: alertmanagerService(cluster) },
    prometheus(cluster, settings),
    alertmanager(cluster, settings),
  ];
}

const keys = {
  scrape: "scrape.yaml",
  alertmanagers: "alertmanagers.yaml",
  silent: "alertmanager.yaml",
} as const;

function scrapeSecret(cluster: SearchCluster, settings: MonitoringSettings): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: metadataOf(cluster, monitoringNames(cluster).scrape),
    type: "Opaque",
    data: encode({
      [keys.scrape]: JSON.stringify(scrapeConfigs(cluster, settings), undefined, 2),
      [keys.alertmanagers]: JSON.stringify(alertmanagerConfigs(cluster), undefined, 2),
      [keys.silent]: silentAlertmanager,
    }),
  };
}

/** prometheus-operator's own Service is shared by all in the namespace. */
function alertmanagerService(cluster: SearchCluster): Service {
  const name = monitoringNames(cluster).stack.alertmanager;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(cluster, name),
    spec: {
      type: "ClusterIP",
      selector: { alertmanager: name },
      ports: [{ name: "web", port: stackPorts.alertmanager, targetPort: "web", protocol: "TCP" }],
    },
  };
}

const restricted = {
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 1000,
    fsGroup: 2000,
    seccompProfile: { type: "RuntimeDefault" },
  },
} as const;

function prometheus(cluster: SearchCluster, { stack }: MonitoringSettings): WantedObject {
  const names = monitoringNames(cluster);
  const { resources } = stack.parts.prometheus;
  return objectOf(
    cluster,
    { kind: "Prometheus", name: names.stack.prometheus },
    {
      spec: {
        ...restricted,
        replicas: 1,
        retention: stack.retention,
        automountServiceAccountToken: false,
        podMetadata: { labels: monitoringLabels(cluster, "prometheus") },
        ruleSelector: { matchLabels: monitoringLabels(cluster) },
        // Selects nothing. Without any selector, prometheus-operator takes the whole configuration for a foreign one and writes none.
        probeSelector: { matchLabels: monitoringLabels(cluster) },
        additionalScrapeConfigs: { name: names.scrape, key: keys.scrape },
        additionalAlertManagerConfigs: { name: names.scrape, key: keys.alertmanagers },
        ...(resources === undefined ? {} : { resources }),
      },
    },
  );
}

function alertmanager(cluster: SearchCluster, { stack }: MonitoringSettings): WantedObject {
  const names = monitoringNames(cluster);
  const { resources } = stack.parts.alertmanager;
  return objectOf(
    cluster,
    { kind: "Alertmanager", name: names.stack.alertmanager },
    {
      spec: {
        ...restricted,
        replicas: 1,
        automountServiceAccountToken: false,
        podMetadata: { labels: monitoringLabels(cluster, "alertmanager") },
        configSecret: stack.receiversSecret ?? names.scrape,
        ...(resources === undefined ? {} : { resources }),
      },
    },
  );
}
