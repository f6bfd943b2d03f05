import { digestOf } from "@quartermaster/runtime";
import {
  type ConfigMap,
  configMaps,
  deployments,
  networkPolicies,
  type NetworkPolicy,
  type Service,
  services,
} from "@quartermaster/runtime/kinds";

import type { MonitoringSettings, StackPart, StackSettings } from "../model/read-monitoring.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { operatorPods } from "../workload/cluster-labels.ts";
import { monitoringLabels, monitoringNames } from "../workload/monitoring-names.ts";
import { alertRules } from "./alert-rules.ts";
import { grafanaFiles } from "./grafana-files.ts";
import { metadataOf, podDeployment } from "./pod-deployment.ts";
import { prometheusFiles, silentAlertmanager, stackPorts, webFile } from "./prometheus-files.ts";
import { scopeOf, type WantedObject } from "./rule-objects.ts";
import { stackVolumes } from "./stack-volumes.ts";

/** The parts of a stack, in the order in which they are made. */
export function stackParts({ isGrafanaEnabled }: StackSettings): readonly StackPart[] {
  return ["prometheus", "alertmanager", ...(isGrafanaEnabled ? ["grafana" as const] : [])];
}

export interface StackInputs {
  /** Versions of the Secrets that the spec names. */
  readonly followed: Readonly<Record<string, string>>;
  /** Certificate and trust: Grafana reads them only when it starts. */
  readonly readAtStart: Readonly<Record<string, unknown>>;
}

/** Prometheus, Alertmanager and Grafana for one cluster: they read its exporter, its rules and its dashboards, and nothing else. */
export function standaloneStack(
  cluster: SearchCluster,
  settings: MonitoringSettings,
  { followed, readAtStart }: StackInputs,
): readonly WantedObject[] {
  return stackParts(settings.stack).flatMap((part) => {
    const config = configOf(cluster, settings, part);
    const inputsHash = digestOf({
      config: config.data ?? {},
      followed,
      ...(part === "grafana" ? { readAtStart } : {}),
      // It reads rules only when it starts, too.
      ...(part === "prometheus" ? { rules: alertRules(scopeOf(cluster)) } : {}),
    }).slice(0, 32);
    return [
      { kind: configMaps, object: config },
      { kind: services, object: stackService(cluster, part) },
      ...(cluster.networkPolicy.isEnabled
        ? [{ kind: networkPolicies, object: stackPolicy(cluster, settings, part) }]
        : []),
      { kind: deployments, object: podDeployment(cluster, podOf(cluster, settings, { part, inputsHash })) },
    ];
  });
}

function configOf(cluster: SearchCluster, settings: MonitoringSettings, part: StackPart): ConfigMap {
  const files: Readonly<Record<StackPart, () => Readonly<Record<string, string>>>> = {
    prometheus: () => prometheusFiles(cluster, settings),
    alertmanager: () => ({ "alertmanager.yaml": silentAlertmanager, "web.json": webFile }),
    grafana: () => grafanaFiles(cluster),
  };
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(cluster, monitoringNames(cluster).stack[part]),
    data: files[part](),
  };
}

function stackService(cluster: SearchCluster, part: StackPart): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(cluster, monitoringNames(cluster).stack[part]),
    spec: {
      type: "ClusterIP",
      selector: monitoringLabels(cluster, part),
      ports: [{ name: "web", port: stackPorts[part], targetPort: "web", protocol: "TCP" }],
    },
  };
}

/** Prometheus and Alertmanager have no login: only pods of the stack, and the operator where it queries, reach them. Grafana has one. */
function stackPolicy(cluster: SearchCluster, { stack }: MonitoringSettings, part: StackPart): NetworkPolicy {
  const own = { podSelector: { matchLabels: monitoringLabels(cluster) } };
  const querier =
    part === "prometheus" && stack.queriedFrom !== undefined ? [operatorPods(stack.queriedFrom)] : [];
  const from = [own, ...querier];
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadataOf(cluster, monitoringNames(cluster).stack[part]),
    spec: {
      podSelector: { matchLabels: monitoringLabels(cluster, part) },
      policyTypes: ["Ingress"],
      ingress: [
        { ...(part === "grafana" ? {} : { from }), ports: [{ protocol: "TCP", port: stackPorts[part] }] },
      ],
    },
  };
}

/** Users that the official images have. */
const users: Readonly<Record<StackPart, number>> = { prometheus: 65_534, alertmanager: 65_534, grafana: 472 };

const health: Readonly<Record<StackPart, string>> = {
  prometheus: "/-/ready",
  alertmanager: "/-/ready",
  grafana: "/api/health",
};

function podOf(
  cluster: SearchCluster,
  { stack }: MonitoringSettings,
  { part, inputsHash }: { readonly part: StackPart; readonly inputsHash: string },
): Parameters<typeof podDeployment>[1] {
  const { image, resources } = stack.parts[part];
  const volumes = stackVolumes[part](cluster, stack);
  const probe = { httpGet: { path: health[part], port: "web", scheme: "HTTPS" }, timeoutSeconds: 5 };
  return {
    part,
    name: monitoringNames(cluster).stack[part],
    user: users[part],
    pullSecrets: image.pullSecrets,
    inputsHash,
    volumes: volumes.map(({ volume }) => volume),
    container: {
      name: part,
      image: image.name,
      ...(image.pullPolicy === undefined ? {} : { imagePullPolicy: image.pullPolicy }),
      args: argumentsOf(stack, part),
      ports: [{ name: "web", containerPort: stackPorts[part], protocol: "TCP" }],
      volumeMounts: volumes.map(({ volume, path, isWritten }) => ({
        name: volume["name"],
        mountPath: path,
        ...(isWritten === true ? {} : { readOnly: true }),
      })),
      ...(resources === undefined ? {} : { resources }),
      readinessProbe: { ...probe, periodSeconds: 5 },
      livenessProbe: { ...probe, periodSeconds: 30, failureThreshold: 10 },
    },
  };
}

function argumentsOf({ retention }: MonitoringSettings["stack"], part: StackPart): readonly string[] {
  switch (part) {
    case "prometheus":
      return [
        "--config.file=/etc/prometheus/prometheus.json",
        "--web.config.file=/etc/prometheus/web.json",
        "--storage.tsdb.path=/prometheus",
        `--storage.tsdb.retention.time=${retention}`,
        `--web.listen-address=:${String(stackPorts.prometheus)}`,
      ];
    case "alertmanager":
      return [
        "--config.file=/etc/alertmanager/alertmanager.yaml",
        "--web.config.file=/etc/alertmanager-web/web.json",
        "--storage.path=/alertmanager",
        // One of it needs no others.
        "--cluster.listen-address=",
        `--web.listen-address=:${String(stackPorts.alertmanager)}`,
      ];
    case "grafana":
    default:
      return ["--config=/etc/grafana/grafana.ini"];
  }
}
