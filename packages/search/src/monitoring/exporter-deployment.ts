import type { JsonObject } from "@quartermaster/runtime";
import type { ConfigMap, Deployment, NetworkPolicy, Service } from "@quartermaster/runtime/kinds";

import { serverNameOf } from "../certificates/wanted-certificates.ts";
import {
  type ExporterConfig,
  exporterConfigFile,
  exporterDirectories,
  exporterPort,
} from "../exporter/exporter-config.ts";
import { clusterNames } from "../model/cluster-names.ts";
import type { MonitoringSettings } from "../model/read-monitoring.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { monitoringLabels, monitoringNames } from "../workload/monitoring-names.ts";
import { metadataOf, podDeployment } from "./pod-deployment.ts";

/** Configuration that the exporter reads before each sample: nothing in it restarts its pod. */
export function exporterConfigMap(cluster: SearchCluster): ConfigMap {
  const { name, distribution, httpPort, security, pools } = cluster;
  const isTls = security.isEnabled && security.http.isEnabled;
  const config: ExporterConfig = {
    cluster: name,
    distribution,
    host: serverNameOf(cluster),
    port: httpPort,
    ...(isTls ? { serverName: cluster.serverName ?? serverNameOf(cluster) } : {}),
    expectedNodes: pools.reduce((sum, { replicas }) => sum + replicas, 0),
  };
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(cluster, monitoringNames(cluster).exporter),
    data: { [exporterConfigFile]: `${JSON.stringify(config, undefined, 2)}\n` },
  };
}

/** Service for Prometheus. Its labels are what a ServiceMonitor selects. */
export function exporterService(cluster: SearchCluster): Service {
  const base = metadataOf(cluster, monitoringNames(cluster).exporter);
  const selector = monitoringLabels(cluster, "exporter");
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { ...base, labels: { ...base.labels, ...selector } },
    spec: {
      type: "ClusterIP",
      selector,
      ports: [{ name: "metrics", port: exporterPort, targetPort: "metrics", protocol: "TCP" }],
    },
  };
}

/** One pod: two would show every metric twice. */
export function exporterDeployment(cluster: SearchCluster, settings: MonitoringSettings): Deployment {
  const { name: image, pullPolicy, pullSecrets } = settings.image;
  const volumes = exporterVolumes(cluster, settings);
  return podDeployment(cluster, {
    part: "exporter",
    name: monitoringNames(cluster).exporter,
    user: 65_532,
    pullSecrets,
    volumes: volumes.map(({ volume }) => volume),
    container: {
      name: "exporter",
      image,
      ...(pullPolicy === undefined ? {} : { imagePullPolicy: pullPolicy }),
      ports: [{ name: "metrics", containerPort: exporterPort, protocol: "TCP" }],
      volumeMounts: volumes.map(({ volume, path }) => ({
        name: volume["name"],
        mountPath: path,
        readOnly: true,
      })),
      resources: settings.resources ?? {
        requests: { cpu: "20m", memory: "96Mi" },
        limits: { memory: "256Mi" },
      },
      livenessProbe: { httpGet: { path: "/healthz", port: "metrics" }, periodSeconds: 20, timeoutSeconds: 5 },
      readinessProbe: { httpGet: { path: "/readyz", port: "metrics" }, periodSeconds: 5, timeoutSeconds: 5 },
    },
  });
}

interface ExporterVolume {
  readonly volume: JsonObject;
  readonly path: string;
}

/** Of the engine's certificate it sees the CA alone; of Secrets nothing but its own login. */
function exporterVolumes(
  cluster: SearchCluster,
  { userSecret }: MonitoringSettings,
): readonly ExporterVolume[] {
  const { security } = cluster;
  const names = monitoringNames(cluster);
  const file = (key: string): JsonObject => ({ key, path: key, mode: 0o440 });
  const secret = (name: string, secretName: string, keys: readonly string[]): JsonObject => ({
    name,
    secret: { secretName, items: keys.map(file) },
  });
  return [
    { volume: { name: "config", configMap: { name: names.exporter } }, path: exporterDirectories.config },
    ...(security.isEnabled && security.http.isEnabled
      ? [
          {
            volume: secret("trust", clusterNames(cluster).httpCertificate, ["ca.crt"]),
            path: exporterDirectories.trust,
          },
        ]
      : []),
    ...(security.isEnabled
      ? [
          {
            volume: secret("login", userSecret ?? names.password, ["username", "password"]),
            path: exporterDirectories.login,
          },
        ]
      : []),
  ];
}

/** Only the page is served, to scrapers: it holds no document and no secret. */
export function exporterNetworkPolicy(cluster: SearchCluster): NetworkPolicy {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadataOf(cluster, monitoringNames(cluster).exporter),
    spec: {
      podSelector: { matchLabels: monitoringLabels(cluster, "exporter") },
      policyTypes: ["Ingress"],
      ingress: [{ ports: [{ protocol: "TCP", port: exporterPort }] }],
    },
  };
}
