import { declaredVersion, taggedVersion } from "./declared-version.ts";
import { effect, type FieldTable, type FieldVerdict, type IdleCase, none, valueAt } from "./field-verdict.ts";

const hasOtherStorage: IdleCase = {
  when: ({ item }) =>
    valueAt(item, "persistence.emptyDir") !== undefined ||
    valueAt(item, "persistence.hostPath") !== undefined,
  why: "The pool has no claims: persistence names emptyDir or hostPath.",
};

const hasEmptyDir: IdleCase = {
  when: ({ item }) => valueAt(item, "persistence.emptyDir") !== undefined,
  why: "emptyDir is set, and wins.",
};

const claims = (shown: string): FieldVerdict =>
  effect(`volumeClaimTemplates of the StatefulSet: ${shown}`, hasOtherStorage);

const storage: FieldTable = {
  diskSize: claims("size"),
  "persistence.emptyDir": effect("volume data of the pods"),
  "persistence.hostPath": effect("volume data of the pods", hasEmptyDir),
  "persistence.pvc.accessModes": claims("accessModes"),
  "persistence.pvc.annotations": claims("annotations"),
  "persistence.pvc.labels": claims("labels"),
  "persistence.pvc.storageClass": claims("storageClassName"),
  "persistentVolumeClaimRetentionPolicy.whenScaled": effect(
    "lane nodes: claims of removed nodes of the pool",
  ),
  "persistentVolumeClaimRetentionPolicy.whenDeleted": none(
    "All claims of a cluster are kept or deleted together: set general.persistentVolumeClaimRetentionPolicy.whenDeleted.",
  ),
};

const autoscaling: FieldTable = {
  autoscaling: effect("status.autoscaling; mode Auto: replicas of the StatefulSet"),
};

const timings = [
  "failureThreshold",
  "initialDelaySeconds",
  "periodSeconds",
  "successThreshold",
  "timeoutSeconds",
];

function probeFields(name: "liveness" | "readiness" | "startup"): FieldTable {
  const fields = name === "liveness" ? timings : [...timings, "command"];
  return Object.fromEntries(
    fields.map((field) => [`probes.${name}.${field}`, effect(`${name}Probe of container opensearch`)]),
  );
}

const probes: FieldTable = {
  ...probeFields("liveness"),
  ...probeFields("readiness"),
  ...probeFields("startup"),
};

const hasOtherVersion: IdleCase = {
  when: ({ spec, item }) => {
    const [tagged, declared] = [taggedVersion(item["image"]), declaredVersion(spec)];
    return tagged !== undefined && declared !== undefined && tagged !== declared;
  },
  why: "Its tag names another version, and all pools run one version.",
};

/** Fields of one element of `nodePools`. */
export const poolFields: FieldTable = {
  ...storage,
  ...autoscaling,
  ...probes,
  additionalConfig: effect("opensearch.yml in ConfigMap <cluster>-<pool>-config"),
  affinity: effect("affinity of the pods"),
  annotations: effect("annotations of the pods, of StatefulSet and headless Service of the pool"),
  component: effect("names of StatefulSet <cluster>-<pool> and of its pods"),
  env: effect("env of container opensearch"),
  hostAliases: effect("hostAliases of the pods"),
  image: effect("image of containers opensearch and prepare", hasOtherVersion),
  imagePullPolicy: effect("imagePullPolicy of containers opensearch and prepare"),
  "imagePullSecrets[].name": effect("imagePullSecrets of the pods"),
  initContainers: effect("initContainers of the pods"),
  jvm: effect("OPENSEARCH_JAVA_OPTS of container opensearch"),
  labels: effect("labels of the pods, of StatefulSet, ConfigMap and headless Service of the pool"),
  nodeSelector: effect("nodeSelector of the pods"),
  "pdb.maxUnavailable": effect("PodDisruptionBudget <cluster>-<pool>-pdb"),
  "pdb.minAvailable": effect("PodDisruptionBudget <cluster>-<pool>-pdb"),
  "pdb.enable": effect("PodDisruptionBudget <cluster>-<pool>-pdb"),
  priorityClassName: effect("priorityClassName of the pods"),
  replicas: effect("replicas of the StatefulSet; lane nodes removes nodes"),
  resources: effect("resources of containers opensearch and prepare"),
  roles: effect("node.roles in opensearch.yml"),
  sidecarContainers: effect("containers of the pods"),
  tolerations: effect("tolerations of the pods"),
  topologySpreadConstraints: effect("topologySpreadConstraints of the pods"),
};
