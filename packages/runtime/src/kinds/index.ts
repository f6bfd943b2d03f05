export type {
  ConfigMap,
  Container,
  ContainerStatus,
  EnvVar,
  KeyToPath,
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
  PodTemplate,
  Secret,
  Service,
  ServiceAccount,
  ServicePort,
  StatusCondition,
  StringMap,
  Volume,
  VolumeMount,
} from "./core.ts";
export {
  configMaps,
  namespaces,
  nodes,
  persistentVolumeClaims,
  pods,
  secrets,
  serviceAccounts,
  services,
} from "./core.ts";
export type {
  DaemonSet,
  Deployment,
  Job,
  LabelSelector,
  PodDisruptionBudget,
  StatefulSet,
  WorkloadStatus,
} from "./workloads.ts";
export { daemonSets, deployments, jobs, podDisruptionBudgets, statefulSets } from "./workloads.ts";
export type {
  ClusterRole,
  CustomResourceDefinition,
  Ingress,
  NetworkPolicy,
  PolicyRule,
  Role,
  RoleBinding,
  StorageClass,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  WebhookConfiguration,
} from "./cluster.ts";
export {
  clusterRoleBindings,
  clusterRoles,
  customResourceDefinitions,
  ingresses,
  mutatingWebhookConfigurations,
  networkPolicies,
  roleBindings,
  roles,
  storageClasses,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
} from "./cluster.ts";
export type { Lease } from "../leader/lease.ts";
export { leases } from "../leader/lease.ts";
export type { EventObject } from "../events/event-object.ts";
export { eventKind as events } from "../events/event-object.ts";
