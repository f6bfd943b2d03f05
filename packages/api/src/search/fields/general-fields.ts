import { declaredVersion, isOlder } from "./declared-version.ts";
import { effect, type FieldTable, type IdleCase, none, valueAt } from "./field-verdict.ts";

/** Sources of `additionalVolumes`. The API server checks what is below them. */
const volumeSources = [
  "secret",
  "configMap",
  "emptyDir",
  "csi",
  "persistentVolumeClaim",
  "projected",
  "nfs",
  "hostPath",
] as const;

const ownDirectories =
  /^(?:\/tmp|(?:\/usr\/share\/(?:opensearch|elasticsearch))\/(?:config|data|logs)|\/usr\/share\/(?:opensearch-dashboards|kibana)\/data)$/;

const isOwnPath: IdleCase = {
  when: ({ item: { path, emptyDir } }) =>
    emptyDir !== undefined && typeof path === "string" && ownDirectories.test(path),
  why: "The operator mounts a writable volume there: the root of containers is read-only.",
};

/** Volumes of a part of the cluster; `mounted` names the container that sees them. */
export function volumeFields(mounted: string): FieldTable {
  const pods = `volumes of the pods and volumeMounts of container ${mounted}`;
  return {
    name: effect(pods),
    path: effect(`volumeMounts of container ${mounted}`, isOwnPath),
    subPath: effect(`volumeMounts of container ${mounted}`),
    ...Object.fromEntries(volumeSources.map((source) => [source, effect("volumes of the pods")])),
  };
}

const followed: IdleCase = {
  when: ({ item }) => item["secret"] === undefined && item["configMap"] === undefined,
  why: "Only the content of a Secret or ConfigMap is followed.",
};

const images: FieldTable = {
  image: effect("image of containers opensearch and prepare in StatefulSets"),
  imagePullPolicy: effect("imagePullPolicy of containers opensearch and prepare in StatefulSets"),
  "imagePullSecrets[].name": effect("imagePullSecrets of the pods"),
};

const engine: FieldTable = {
  additionalConfig: effect("opensearch.yml in ConfigMaps <cluster>-config and <cluster>-<pool>-config"),
  clusterSettings: effect("persistent settings of the engine, by its API"),
  command: effect("command of container opensearch in StatefulSets"),
  defaultRepo: effect("images of the engine and of Dashboards that are not named in full"),
  drainDataNodes: effect("lane nodes: shards leave a node before it restarts"),
  httpPort: effect("http.port in opensearch.yml, ports of Services, pods and NetworkPolicy"),
  "keystore[].keyMappings": effect("arguments of init container prepare, which fills the keystore"),
  "keystore[].secret.name": effect("volumes of the pods; init container prepare fills the keystore"),
  opensearchHome: effect("path.data in opensearch.yml and mount paths of container opensearch"),
  operatorClusterURL: effect("name that the operator verifies in the certificates of nodes"),
  pluginsList: effect("arguments of init container prepare, which installs them"),
  serviceName: effect("names of Services <serviceName> and <serviceName>-<pool>"),
  setVMMaxMapCount: effect("privileged init container set-max-map-count in StatefulSets"),
  "snapshotRepositories[].name": effect("snapshot repositories of the engine, by its API"),
  "snapshotRepositories[].settings": effect("snapshot repositories of the engine, by its API"),
  "snapshotRepositories[].type": effect("snapshot repositories of the engine, by its API"),
  vendor: none("The kind decides what runs.", ["Opensearch", "Op", "OP", "os", "opensearch"]),
  version: effect("tag of the images of the engine and of Dashboards"),
};

const pods: FieldTable = {
  ...Object.fromEntries(
    Object.entries(volumeFields("opensearch")).map(([field, verdict]) => [
      `additionalVolumes[].${field}`,
      verdict,
    ]),
  ),
  "additionalVolumes[].restartPods": effect("annotation inputs-hash of the pods", followed),
  annotations: effect("annotations of Services <serviceName> and <serviceName>-<pool>"),
  commonAnnotations: effect("annotations of all objects except pods and claims"),
  commonLabels: effect("labels of all objects except pods and claims"),
  podAnnotations: effect("annotations of the pods"),
  podLabels: effect("labels of the pods"),
  hostAliases: effect("hostAliases of the pods"),
  hostNetwork: effect("hostNetwork of the pods of nodes and of Dashboards"),
  podSecurityContext: effect("securityContext of the pods"),
  securityContext: effect("securityContext of container opensearch"),
  serviceAccount: effect("serviceAccountName of the pods of nodes and of Dashboards"),
};

const isTooOld: IdleCase = {
  when: ({ spec }) => isOlder(declaredVersion(spec), 3, 2),
  why: "gRPC needs OpenSearch 3.2 or later.",
};

const grpc: FieldTable = Object.fromEntries(
  [
    ["enable", "aux.transport.types in opensearch.yml; port grpc of pods, Services and NetworkPolicy"],
    ["port", "aux.transport.transport-grpc.port in opensearch.yml; port grpc of pods and Services"],
    ["host", "grpc.host in opensearch.yml"],
    ["bindHost", "grpc.bind_host in opensearch.yml"],
    ["publishHost", "grpc.publish_host in opensearch.yml"],
    ["publishPort", "grpc.publish_port in opensearch.yml"],
    ["keepaliveTimeout", "grpc.netty.keepalive_timeout in opensearch.yml"],
    ["maxConnectionAge", "grpc.netty.max_connection_age in opensearch.yml"],
    ["maxConnectionIdle", "grpc.netty.max_connection_idle in opensearch.yml"],
    ["maxMsgSize", "grpc.netty.max_msg_size in opensearch.yml"],
    ["maxConcurrentConnectionCalls", "grpc.netty.max_concurrent_connection_calls in opensearch.yml"],
    ["nettyExecutorCount", "grpc.netty.executor_count in opensearch.yml"],
    ["nettyWorkerCount", "grpc.netty.worker_count in opensearch.yml"],
  ].map(([field = "", shown = ""]) => [`grpc.${field}`, effect(shown, isTooOld)]),
);

const isNotBalanced: IdleCase = {
  when: ({ spec }) => valueAt(spec, "general.service.type") !== "LoadBalancer",
  why: "service.type is not LoadBalancer.",
};

const client = "Service <serviceName>";

const service: FieldTable = {
  "service.type": effect(client),
  "service.annotations": effect(client),
  "service.labels": effect(client),
  "service.loadBalancerClass": effect(client, isNotBalanced),
  "service.loadBalancerSourceRanges": effect(client, isNotBalanced),
  "service.externalTrafficPolicy": effect(client, {
    when: ({ spec }) => !["LoadBalancer", "NodePort"].includes(String(valueAt(spec, "general.service.type"))),
    why: "service.type is neither NodePort nor LoadBalancer.",
  }),
};

const retention: FieldTable = {
  "persistentVolumeClaimRetentionPolicy.whenDeleted": effect(
    "deletion of the cluster: PersistentVolumeClaims, CA and passwords",
  ),
  "persistentVolumeClaimRetentionPolicy.whenScaled": effect("lane nodes: claims of removed nodes"),
};

const network: FieldTable = {
  "networkPolicy.enable": effect("NetworkPolicy <cluster>-nodes"),
  "networkPolicy.from": effect("ingress of NetworkPolicy <cluster>-nodes", {
    when: ({ spec }) => valueAt(spec, "general.networkPolicy.enable") === false,
    why: "enable is false.",
  }),
};

const isForeignLabel: IdleCase = {
  when: ({ item: { nodeLabel } }) => typeof nodeLabel === "string" && !isReadLabel(nodeLabel),
  why: "Of machines only labels below topology.kubernetes.io, node.kubernetes.io and kubernetes.io are read: set node.attr.<name> in additionalConfig of a pool whose nodeSelector chooses the machines.",
};

/** Whether the operator reads a label of machines for authors: where one is, not what else it is marked with. */
export function isReadLabel(label: string): boolean {
  return /^(?:(?:topology|failure-domain\.beta|node)\.)?kubernetes\.io\/[A-Za-z0-9._-]{1,63}$/.test(label);
}

/** Fields of `general`, without `monitoring`. */
export const generalFields: FieldTable = {
  ...images,
  ...engine,
  ...pods,
  ...grpc,
  ...service,
  ...retention,
  ...network,
  "nodeAttributes[].name": effect(
    "arguments of init container prepare: node.attr.<name> of the engine",
    isForeignLabel,
  ),
  "nodeAttributes[].nodeLabel": effect("annotations that lane attributes writes onto pods", isForeignLabel),
};
