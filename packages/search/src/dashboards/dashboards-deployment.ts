import type { JsonObject } from "@quartermaster/runtime";
import { withoutFields } from "@quartermaster/runtime";
import type { ConfigMap, Deployment, EnvVar, Service } from "@quartermaster/runtime/kinds";

import { podDialect } from "../distributions/distributions.ts";
import { markAnnotations, markLabels } from "../marks.ts";
import { clusterNames } from "../model/cluster-names.ts";
import type { DashboardsWish, SearchCluster } from "../model/search-cluster.ts";
import { clusterLabels } from "../workload/cluster-labels.ts";
import {
  cookieKey,
  dashboardsLabels,
  dashboardsNames,
  dashboardsPort,
} from "../workload/dashboards-names.ts";
import { mergeFields } from "../workload/merge-wishes.ts";
import { dashboardsConfig, dashboardsFolders, dashboardsVariables } from "./dashboards-config.ts";

/** What decides about the Deployment besides the spec. */
export interface DashboardsChoice {
  readonly wish: DashboardsWish;
  /** The one that is to run now: not newer than the engine. */
  readonly image: string;
  /** Of everything that it reads only when it starts. */
  readonly inputsHash: string;
}

/** Its configuration. */
export function dashboardsConfigMap(cluster: SearchCluster, wish: DashboardsWish): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(cluster, dashboardsNames(cluster).config),
    data: { [podDialect(cluster).dashboardsFile]: dashboardsConfig(cluster, wish) },
  };
}

/** Users come in here. */
export function dashboardsService(cluster: SearchCluster, { service }: DashboardsWish): Service {
  const base = metadataOf(cluster, dashboardsNames(cluster).service);
  const isBalanced = service.type === "LoadBalancer" && service.sourceRanges.length > 0;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { ...base, labels: { ...service.labels, ...base.labels } },
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
  const { wish, inputsHash } = choice;
  const labels = dashboardsLabels(cluster);
  const spec = {
    ...mergeFields(podDefaults(wish), withoutFields(wish.pod.spec, podFieldsOfOurs)),
    containers: [container(cluster, choice)],
    volumes: [
      { name: "config", configMap: { name: dashboardsNames(cluster).config } },
      { name: "data", emptyDir: {} },
      { name: "tmp", emptyDir: {} },
      ...certificateVolumes(cluster, wish),
      ...wish.pod.volumes.map((volume) => withoutFields(volume, mountFields)),
    ],
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf(cluster, dashboardsNames(cluster).deployment),
    spec: {
      replicas: wish.replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: {
          labels: { ...ownLabels(cluster, wish), ...labels },
          annotations: { ...wish.pod.annotations, [markAnnotations.inputsHash]: inputsHash },
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
  return { name, namespace: cluster.namespace, labels: { [markLabels.part]: "dashboards" } };
}

/** The author's labels, without those by which Services and the operator find nodes of the engine. */
function ownLabels(cluster: SearchCluster, { pod }: DashboardsWish): Readonly<Record<string, string>> {
  const ofNodes = new Set([...Object.keys(clusterLabels(cluster)), ...Object.values(markLabels)]);
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

function podDefaults({ image }: DashboardsWish): JsonObject {
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

function container(cluster: SearchCluster, { wish, image }: DashboardsChoice): JsonObject {
  const ours: JsonObject = {
    name: "dashboards",
    image,
    ...(wish.image.pullPolicy === undefined ? {} : { imagePullPolicy: wish.image.pullPolicy }),
    env: cluster.security.isEnabled ? environment(cluster, wish) : [],
    ports: [{ name: "http", containerPort: dashboardsPort, protocol: "TCP" }],
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    },
    volumeMounts: mounts(cluster, wish),
    ...(wish.resources === undefined ? {} : { resources: wish.resources }),
    ...probes(wish),
  };
  return mergeFields(ours, withoutFields(wish.pod.container, new Set(["name", "image", "ports", "probes"])));
}

function environment(cluster: SearchCluster, wish: DashboardsWish): readonly EnvVar[] {
  const own = dashboardsNames(cluster).password;
  const login = wish.credentialsSecret ?? own;
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

function mounts(cluster: SearchCluster, wish: DashboardsWish): readonly JsonObject[] {
  const file = podDialect(cluster).dashboardsFile;
  return [
    { name: "config", mountPath: `${wish.home}/config/${file}`, subPath: file, readOnly: true },
    { name: "data", mountPath: `${wish.home}/data` },
    { name: "tmp", mountPath: "/tmp" },
    ...certificateVolumes(cluster, wish).map(({ name }) => ({
      name,
      mountPath: name === "trust" ? dashboardsFolders.trust : dashboardsFolders.certificate,
      readOnly: true,
    })),
    ...wish.pod.volumes.map(({ name, path, subPath, readOnly }) => ({
      name,
      mountPath: path,
      ...(typeof subPath === "string" && subPath !== "" ? { subPath } : {}),
      ...(readOnly === true ? { readOnly: true } : {}),
    })),
  ];
}

interface CertificateVolume {
  readonly name: "trust" | "certificate";
  readonly secret: JsonObject;
}

/** Of the engine's certificate it sees the authority alone. */
function certificateVolumes(cluster: SearchCluster, wish: DashboardsWish): readonly CertificateVolume[] {
  const { isEnabled, http } = cluster.security;
  const file = (key: string): JsonObject => ({ key, path: key, mode: 0o440 });
  const own = wish.tlsSecret ?? dashboardsNames(cluster).certificate;
  return [
    ...(isEnabled && http.isEnabled
      ? [
          {
            name: "trust" as const,
            secret: { secretName: clusterNames(cluster).httpCertificate, items: [file("ca.crt")] },
          },
        ]
      : []),
    ...(wish.isTlsEnabled
      ? [
          {
            name: "certificate" as const,
            secret: { secretName: own, items: [file("tls.crt"), file("tls.key")] },
          },
        ]
      : []),
  ];
}

/** The page that asks for a login: it answers without one, and not before the engine does. */
function probes({ basePath = "", isTlsEnabled }: DashboardsWish): JsonObject {
  const tcp = { tcpSocket: { port: dashboardsPort } };
  const page = { path: `${basePath}/`, port: dashboardsPort, scheme: isTlsEnabled ? "HTTPS" : "HTTP" };
  return {
    startupProbe: { ...tcp, periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 60 },
    livenessProbe: { ...tcp, periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 10 },
    readinessProbe: { httpGet: page, periodSeconds: 10, timeoutSeconds: 10, failureThreshold: 3 },
  };
}
