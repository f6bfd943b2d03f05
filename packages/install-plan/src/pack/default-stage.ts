import { groupOf, type Identity } from "../identity.ts";

/**
 * The default stages in their order: what others need comes first. Registrations follow the workloads that answer them, and
 * custom resources come last: then their definitions, controllers and webhooks are in place, and on deletion they go first,
 * while their controller can still clean up after them.
 */
export const defaultStages = [
  "namespaces",
  "definitions",
  "policies",
  "config",
  "rbac",
  "storage",
  "services",
  "workloads",
  "registrations",
  "custom",
] as const;

/** The name of a default stage. */
export type DefaultStage = (typeof defaultStages)[number];

/** The stage to which an object belongs by its kind; kinds that Kubernetes does not know are custom resources. */
export function defaultStageOf({ apiVersion, kind }: Identity): DefaultStage {
  return stages.get(`${groupOf(apiVersion)}/${kind}`) ?? "custom";
}

const kindsOfStages: Readonly<Record<Exclude<DefaultStage, "custom">, string>> = {
  namespaces: "/Namespace",
  definitions: "apiextensions.k8s.io/CustomResourceDefinition",
  policies:
    "/ServiceAccount /ResourceQuota /LimitRange scheduling.k8s.io/PriorityClass node.k8s.io/RuntimeClass networking.k8s.io/NetworkPolicy policy/PodDisruptionBudget flowcontrol.apiserver.k8s.io/FlowSchema flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration",
  config: "/ConfigMap /Secret",
  rbac: "rbac.authorization.k8s.io/Role rbac.authorization.k8s.io/ClusterRole rbac.authorization.k8s.io/RoleBinding rbac.authorization.k8s.io/ClusterRoleBinding",
  storage:
    "/PersistentVolume /PersistentVolumeClaim storage.k8s.io/StorageClass storage.k8s.io/CSIDriver storage.k8s.io/VolumeAttributesClass",
  services:
    "/Service /Endpoints discovery.k8s.io/EndpointSlice networking.k8s.io/Ingress networking.k8s.io/IngressClass",
  workloads:
    "/Pod /PodTemplate /ReplicationController apps/Deployment apps/StatefulSet apps/DaemonSet apps/ReplicaSet batch/Job batch/CronJob autoscaling/HorizontalPodAutoscaler",
  registrations:
    "apiregistration.k8s.io/APIService admissionregistration.k8s.io/ValidatingWebhookConfiguration admissionregistration.k8s.io/MutatingWebhookConfiguration admissionregistration.k8s.io/ValidatingAdmissionPolicy admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding admissionregistration.k8s.io/MutatingAdmissionPolicy admissionregistration.k8s.io/MutatingAdmissionPolicyBinding",
};

const stages: ReadonlyMap<string, DefaultStage> = new Map(
  defaultStages.flatMap((stage) =>
    stage === "custom"
      ? []
      : kindsOfStages[stage].split(" ").map((kind): [string, DefaultStage] => [kind, stage]),
  ),
);
