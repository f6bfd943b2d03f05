import type { JsonObject } from "@quartermaster/runtime";
import { withoutFields } from "@quartermaster/runtime";
import type { ConfigMap, Deployment, EnvVar, Service } from "@quartermaster/runtime/kinds";

import { podDialect } from "../distributions/distributions.ts";
import { clusterNames } from "../model/cluster-names.ts";
import { distributionFacts } from "../model/distribution-facts.ts";
import { ownerless } from "../model/object-metadata.ts";
import type { DashboardsSettings, SearchCluster } from "../model/search-cluster.ts";
import { ownerAnnotations, ownerLabels } from "../owner-labels.ts";
import { clusterLabels, givenAnnotations } from "../workload/cluster-labels.ts";
import {
  cookieKey,
  dashboardsLabels,
  dashboardsNames,
  dashboardsPort,
} from "../workload/dashboards-names.ts";
import { mergeFields } from "../workload/merge-settings.ts";
import { dashboardsConfig, dashboardsDirectories, dashboardsVariables } from "./dashboards-config.ts";

export interface DashboardsChoice {
  readonly settings: DashboardsSettings;
  /** The one that is to run now: not newer than the engine. */
  readonly image: string;
  /** Of everything that it reads only when it starts. */
  readonly inputsHash: string;
}

/** Its configuration. */
export function dashboardsConfigMap(cluster: SearchCluster, settings: DashboardsSettings): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(cluster, dashboardsNames(cluster).config),
    data: { [podDialect(cluster).dashboardsFile]: dashboardsConfig(cluster, settings) },
  };
}

/** Users come in here. */
export function dashboardsService(cluster: SearchCluster, { service, pod }: DashboardsSettings): Service {
  const base = metadataOf(cluster, dashboardsNames(cluster).service);
  const isBalanced = service.type === "LoadBalancer" && service.sourceRanges.length > 0;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      ...base,
      labels: { ...ownerless(service.labels), ...base.labels },
      ...givenAnnotations(ownerless(pod.annotations)),
    },
    spec: {
      type: service.type,
      selector: dashboardsLabels(cluster),
      ports: [{ name: "http", port: dashboardsPort, targetPort: "http", protocol: "TCP" }],
      ...(isBalanced ? { loadBalancerSourceRanges: service.sourceRanges } : {}),
    },
  };
}

/** Its pods. They meet the restricted profile with a read-only root. */
export function dashboardsDeployment(cluster: SearchCluster, choice: DashboardsChoice): Deployment {
  const { settings, inputsHash } = choice;
  const { plugins = [] } = settings;
  const labels = dashboardsLabels(cluster);
  const base = metadataOf(cluster, dashboardsNames(cluster).deployment);
  const spec = {
    ...mergeFields(podDefaults(settings), withoutFields(settings.pod.spec, podFieldsOfOurs)),
    ...(settings.pod.spec["hostNetwork"] === true ? { dnsPolicy: "ClusterFirstWithHostNet" } : {}),
    ...(plugins.length === 0 ? {} : { initContainers: pluginContainers(cluster, choice) }),
    containers: [container(cluster, choice)],
    volumes: [
      ...(plugins.length === 0 ? [] : [{ name: pluginsVolume, emptyDir: {} }]),
      { name: "config", configMap: { name: dashboardsNames(cluster).config } },
      { name: "data", emptyDir: {} },
      { name: "tmp", emptyDir: {} },
      ...certificateVolumes(cluster, settings),
      ...settings.pod.volumes.map((volume) => withoutFields(volume, mountFields)),
    ],
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      ...base,
      labels: { ...ownerless(ownLabels(cluster, settings)), ...base.labels },
      ...givenAnnotations(ownerless(settings.pod.annotations)),
    },
    spec: {
      replicas: settings.replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: {
          labels: { ...ownLabels(cluster, settings), ...labels },
          annotations: { ...settings.pod.annotations, [ownerAnnotations.inputsHash]: inputsHash },
        },
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ours is typed above; what authors add passes through unread
        spec: spec as unknown as Deployment["spec"]["template"]["spec"],
      },
    },
  };
}

function metadataOf(
  cluster: SearchCluster,
  name: string,
): { name: string; namespace: string; labels: Record<string, string> } {
  return { name, namespace: cluster.namespace, labels: { [ownerLabels.part]: "dashboards" } };
}

/** The author's labels, without those by which Services and the operator find nodes of the engine. */
function ownLabels(cluster: SearchCluster, { pod }: DashboardsSettings): Readonly<Record<string, string>> {
  const ofNodes = new Set([...Object.keys(clusterLabels(cluster)), ...Object.values(ownerLabels)]);
  return Object.fromEntries(Object.entries(pod.labels).filter(([key]) => !ofNodes.has(key)));
}

const podFieldsOfOurs: ReadonlySet<string> = new Set([
  "containers",
  "initContainers",
  "volumes",
  "restartPolicy",
]);
const mountFields: ReadonlySet<string> = new Set(["path", "subPath", "readOnly", "restartPods"]);

/** The user that the official images have. */
const imageUser = 1000;

function podDefaults({ image }: DashboardsSettings): JsonObject {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: imageUser,
      runAsGroup: imageUser,
      fsGroup: imageUser,
      seccompProfile: { type: "RuntimeDefault" },
    },
    ...(image.pullSecrets.length === 0
      ? {}
      : { imagePullSecrets: image.pullSecrets.map((name) => ({ name })) }),
  };
}

const containerSecurity: JsonObject = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
};

const pluginsVolume = "plugins";

/**
 * Plugins are installed before it starts, into a volume: the image is read-only. Two steps, because the volume hides the plugins of the
 * image where the tool looks for them. What the author writes is an argument, never part of a script.
 */
function pluginContainers(
  cluster: SearchCluster,
  { settings, image }: DashboardsChoice,
): readonly JsonObject[] {
  const { home, plugins = [], resources } = settings;
  const tool = `${home}/bin/${distributionFacts[cluster.distribution].dashboards}-plugin`;
  const base = {
    image,
    ...(settings.image.pullPolicy === undefined ? {} : { imagePullPolicy: settings.image.pullPolicy }),
    securityContext: containerSecurity,
    ...(resources === undefined ? {} : { resources }),
  };
  const tmp = { name: "tmp", mountPath: "/tmp" };
  const data = { name: "data", mountPath: `${home}/data` };
  return [
    {
      ...base,
      name: "copy-plugins",
      command: ["/bin/bash", "-c", 'cp -R "$1/plugins/." "$2/"', "copy-plugins", home, "/prepared"],
      volumeMounts: [tmp, { name: pluginsVolume, mountPath: "/prepared" }],
    },
    {
      ...base,
      name: "install-plugins",
      command: [
        "/bin/bash",
        "-c",
        'set -e; tool=$1; shift; for plugin in "$@"; do "$tool" install "$plugin"; done',
        "install-plugins",
        tool,
        ...plugins,
      ],
      volumeMounts: [tmp, data, { name: pluginsVolume, mountPath: `${home}/plugins` }],
    },
  ];
}

function container(cluster: SearchCluster, { settings, image }: DashboardsChoice): JsonObject {
  const ours: JsonObject = {
    name: "dashboards",
    image,
    ...(settings.image.pullPolicy === undefined ? {} : { imagePullPolicy: settings.image.pullPolicy }),
    env: cluster.security.isEnabled ? environment(cluster, settings) : [],
    ports: [{ name: "http", containerPort: dashboardsPort, protocol: "TCP" }],
    securityContext: containerSecurity,
    volumeMounts: mounts(cluster, settings),
    ...(settings.resources === undefined ? {} : { resources: settings.resources }),
    ...probes(settings),
  };
  return mergeFields(
    ours,
    withoutFields(settings.pod.container, new Set(["name", "image", "ports", "probes"])),
  );
}

function environment(cluster: SearchCluster, settings: DashboardsSettings): readonly EnvVar[] {
  const own = dashboardsNames(cluster).password;
  const login = settings.credentialsSecret ?? own;
  const from = (variable: string, secret: string, key: string): EnvVar => ({
    name: variable,
    valueFrom: { secretKeyRef: { name: secret, key } },
  });
  return [
    from(dashboardsVariables.username, login, "username"),
    from(dashboardsVariables.password, login, "password"),
    from(dashboardsVariables.cookie, own, cookieKey),
  ];
}

function mounts(cluster: SearchCluster, settings: DashboardsSettings): readonly JsonObject[] {
  const file = podDialect(cluster).dashboardsFile;
  return [
    { name: "config", mountPath: `${settings.home}/config/${file}`, subPath: file, readOnly: true },
    { name: "data", mountPath: `${settings.home}/data` },
    { name: "tmp", mountPath: "/tmp" },
    ...((settings.plugins ?? []).length === 0
      ? []
      : [{ name: pluginsVolume, mountPath: `${settings.home}/plugins`, readOnly: true }]),
    ...certificateVolumes(cluster, settings).map(({ name }) => ({
      name,
      mountPath: name === "trust" ? dashboardsDirectories.trust : dashboardsDirectories.certificate,
      readOnly: true,
    })),
    ...settings.pod.volumes
      .filter((volume) => !isOwnPath(volume, settings))
      .map(({ name, path, subPath, readOnly }) => ({
        name,
        mountPath: path,
        ...(typeof subPath === "string" && subPath !== "" ? { subPath } : {}),
        ...(readOnly === true ? { readOnly: true } : {}),
      })),
  ];
}

/** Volumes of ours are writable already. */
function isOwnPath({ path }: JsonObject, { home }: DashboardsSettings): boolean {
  return path === "/tmp" || path === `${home}/data`;
}

interface CertificateVolume {
  readonly name: "trust" | "certificate";
  readonly secret: JsonObject;
}

/** Of the engine's certificate it sees the CA alone. */
function certificateVolumes(
  cluster: SearchCluster,
  settings: DashboardsSettings,
): readonly CertificateVolume[] {
  const { isEnabled, http } = cluster.security;
  const file = (key: string): JsonObject => ({ key, path: key, mode: 0o440 });
  const own = settings.tlsSecret ?? dashboardsNames(cluster).certificate;
  return [
    ...(isEnabled && http.isEnabled
      ? [
          {
            name: "trust" as const,
            secret: { secretName: clusterNames(cluster).httpCertificate, items: [file("ca.crt")] },
          },
        ]
      : []),
    ...(settings.isTlsEnabled
      ? [
          {
            name: "certificate" as const,
            secret: { secretName: own, items: [file("tls.crt"), file("tls.key")] },
          },
        ]
      : []),
  ];
}

/** The login page: it responds without credentials, and not before the engine does. */
function probes({ basePath = "", isTlsEnabled }: DashboardsSettings): JsonObject {
  const tcp = { tcpSocket: { port: dashboardsPort } };
  const page = { path: `${basePath}/`, port: dashboardsPort, scheme: isTlsEnabled ? "HTTPS" : "HTTP" };
  return {
    startupProbe: { ...tcp, periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 60 },
    livenessProbe: { ...tcp, periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 10 },
    readinessProbe: { httpGet: page, periodSeconds: 10, timeoutSeconds: 10, failureThreshold: 3 },
  };
}
