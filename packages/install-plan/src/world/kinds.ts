import { defineKind, type Kind, type KubeObject } from "@quartermaster/runtime";

/** A namespace, as far as we look at it. */
export interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: string };
}

/** A Secret that holds a manifest. */
export interface ManifestSecretObject extends KubeObject {
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
}

/** A Job, as far as we look at it. */
export interface Job extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly startTime?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

/** How volumes of a class come about. */
export interface StorageClass extends KubeObject {
  readonly volumeBindingMode?: string;
}

/** Storage classes. */
export const storageClasses: Kind<StorageClass> = defineKind<StorageClass>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  plural: "storageclasses",
  scope: "Cluster",
});
/** Namespaces. */
export const namespaces: Kind<Namespace> = core("Namespace", "namespaces", "Cluster");
/** Service accounts. */
export const serviceAccounts: Kind = core("ServiceAccount", "serviceaccounts", "Namespaced");
/** Secrets. */
export const secrets: Kind<ManifestSecretObject> = core("Secret", "secrets", "Namespaced");
/** Jobs. */
export const jobs: Kind<Job> = defineKind<Job>({
  group: "batch",
  version: "v1",
  kind: "Job",
  plural: "jobs",
  scope: "Namespaced",
});
/** CustomResourceDefinitions. */
export const customResourceDefinitions: Kind = defineKind({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});

/** What decides the permissions of accounts: a change of any may let a plan go on. */
export const accessKinds: readonly Kind[] = [
  access("Role", "roles", "Namespaced"),
  access("RoleBinding", "rolebindings", "Namespaced"),
  access("ClusterRole", "clusterroles", "Cluster"),
  access("ClusterRoleBinding", "clusterrolebindings", "Cluster"),
];

/** What may refuse an object besides the server itself. */
export const admissionKinds: readonly Kind[] = [
  admission("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
  admission("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
  admission("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
  admission("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
];

function core<O extends KubeObject>(kind: string, plural: string, scope: Kind["scope"]): Kind<O> {
  return defineKind<O>({ group: "", version: "v1", kind, plural, scope });
}

function admission(kind: string, plural: string): Kind {
  return defineKind({ group: "admissionregistration.k8s.io", version: "v1", kind, plural, scope: "Cluster" });
}

function access(kind: string, plural: string, scope: Kind["scope"]): Kind {
  return defineKind({ group: "rbac.authorization.k8s.io", version: "v1", kind, plural, scope });
}
