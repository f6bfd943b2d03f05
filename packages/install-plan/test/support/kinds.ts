import { defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";

/** An object that carries text by key. */
export interface Keyed extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
  readonly stringData?: Readonly<Record<string, string>>;
}

/** An event about a plan. */
export interface PlanEvent extends KubeObject {
  readonly type: string;
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly eventTime: string;
  readonly regarding: { readonly name: string };
}

export const configMaps: Kind<Keyed> = core("ConfigMap", "configmaps", "Namespaced");
export const claims: Kind = core("PersistentVolumeClaim", "persistentvolumeclaims", "Namespaced");
export const pods: Kind = core("Pod", "pods", "Namespaced");
export const secrets: Kind<Keyed> = core("Secret", "secrets", "Namespaced");
export const namespaces: Kind = core("Namespace", "namespaces", "Cluster");
export const serviceAccounts: Kind = core("ServiceAccount", "serviceaccounts", "Namespaced");
export const deployments: Kind = namespaced("apps", "Deployment", "deployments");
export const endpointSlices: Kind = namespaced("discovery.k8s.io", "EndpointSlice", "endpointslices");
export const events: Kind<PlanEvent> = defineKind<PlanEvent>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  scope: "Namespaced",
});
export const roles: Kind = namespaced("rbac.authorization.k8s.io", "Role", "roles");
export const roleBindings: Kind = namespaced("rbac.authorization.k8s.io", "RoleBinding", "rolebindings");
export const clusterRoleBindings: Kind = defineKind({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  scope: "Cluster",
});
export const clusterRoles: Kind = defineKind({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  scope: "Cluster",
});
export const webhookConfigurations: Kind = defineKind({
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
  scope: "Cluster",
});
export const crds: Kind = defineKind({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});

function core<O extends KubeObject>(kind: string, plural: string, scope: Kind["scope"]): Kind<O> {
  return defineKind<O>({ group: "", version: "v1", kind, plural, scope });
}

function namespaced(group: string, kind: string, plural: string): Kind {
  return defineKind({ group, version: "v1", kind, plural, scope: "Namespaced" });
}
