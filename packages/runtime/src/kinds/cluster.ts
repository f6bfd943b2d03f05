import { defineKind, type Kind } from "../object/kind.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { StatusCondition } from "./core.ts";
import type { LabelSelector } from "./workloads.ts";

/** `networking.k8s.io/v1` NetworkPolicy. */
export interface NetworkPolicy extends KubeObject {
  readonly spec?: {
    readonly podSelector?: LabelSelector;
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly object[];
    readonly egress?: readonly object[];
  };
}

/** `networking.k8s.io/v1` Ingress. */
export interface Ingress extends KubeObject {
  readonly spec?: {
    readonly ingressClassName?: string;
    readonly tls?: readonly object[];
    readonly rules?: readonly object[];
  };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly object[] } };
}

/** `storage.k8s.io/v1` StorageClass. */
export interface StorageClass extends KubeObject {
  readonly provisioner: string;
  readonly volumeBindingMode?: string;
  readonly allowVolumeExpansion?: boolean;
  readonly reclaimPolicy?: string;
}

/** A rule of a Role: every verb on every resource of every group. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  /** Empty means all objects. */
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** `rbac.authorization.k8s.io/v1` Role. */
export interface Role extends KubeObject {
  readonly rules?: readonly PolicyRule[];
}

/** `rbac.authorization.k8s.io/v1` ClusterRole. */
export interface ClusterRole extends Role {
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] };
}

/** `rbac.authorization.k8s.io/v1` RoleBinding, and ClusterRoleBinding. */
export interface RoleBinding extends KubeObject {
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects?: readonly {
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
    readonly apiGroup?: string;
  }[];
}

/** `apiextensions.k8s.io/v1` CustomResourceDefinition. */
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly shortNames?: readonly string[];
    };
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly storage: boolean;
      readonly schema?: { readonly openAPIV3Schema?: object };
    }[];
    readonly conversion?: object;
  };
  readonly status?: {
    readonly conditions?: readonly StatusCondition[];
    readonly storedVersions?: readonly string[];
  };
}

/** `admissionregistration.k8s.io/v1` MutatingWebhookConfiguration, and its validating sibling. */
export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: { readonly caBundle?: string; readonly url?: string; readonly service?: object };
    readonly rules?: readonly object[];
    readonly failurePolicy?: "Fail" | "Ignore";
    readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
    readonly namespaceSelector?: LabelSelector;
    readonly objectSelector?: LabelSelector;
    readonly sideEffects: string;
    readonly timeoutSeconds?: number;
    readonly reinvocationPolicy?: string;
    readonly admissionReviewVersions: readonly string[];
  }[];
}

/** Where NetworkPolicies are served. */
export const networkPolicies: Kind<NetworkPolicy> = define<NetworkPolicy>(
  "networking.k8s.io",
  "NetworkPolicy",
  "networkpolicies",
  "Namespaced",
);
/** Where Ingresses are served. */
export const ingresses: Kind<Ingress> = define<Ingress>(
  "networking.k8s.io",
  "Ingress",
  "ingresses",
  "Namespaced",
);
/** Where StorageClasses are served. */
export const storageClasses: Kind<StorageClass> = define<StorageClass>(
  "storage.k8s.io",
  "StorageClass",
  "storageclasses",
  "Cluster",
);
const rbac = "rbac.authorization.k8s.io";
/** Where Roles are served. */
export const roles: Kind<Role> = define<Role>(rbac, "Role", "roles", "Namespaced");
/** Where RoleBindings are served. */
export const roleBindings: Kind<RoleBinding> = define<RoleBinding>(
  rbac,
  "RoleBinding",
  "rolebindings",
  "Namespaced",
);
/** Where ClusterRoles are served. */
export const clusterRoles: Kind<ClusterRole> = define<ClusterRole>(
  rbac,
  "ClusterRole",
  "clusterroles",
  "Cluster",
);
/** Where ClusterRoleBindings are served. */
export const clusterRoleBindings: Kind<RoleBinding> = define<RoleBinding>(
  rbac,
  "ClusterRoleBinding",
  "clusterrolebindings",
  "Cluster",
);
/** Where CustomResourceDefinitions are served. */
export const customResourceDefinitions: Kind<CustomResourceDefinition> = define<CustomResourceDefinition>(
  "apiextensions.k8s.io",
  "CustomResourceDefinition",
  "customresourcedefinitions",
  "Cluster",
);
const admission = "admissionregistration.k8s.io";
/** Where MutatingWebhookConfigurations are served. */
export const mutatingWebhookConfigurations: Kind<WebhookConfiguration> = define<WebhookConfiguration>(
  admission,
  "MutatingWebhookConfiguration",
  "mutatingwebhookconfigurations",
  "Cluster",
);
/** Where ValidatingWebhookConfigurations are served. */
export const validatingWebhookConfigurations: Kind<WebhookConfiguration> = define<WebhookConfiguration>(
  admission,
  "ValidatingWebhookConfiguration",
  "validatingwebhookconfigurations",
  "Cluster",
);

/** `admissionregistration.k8s.io/v1` ValidatingAdmissionPolicy, as far as it can be known without evaluating it. */
export interface ValidatingAdmissionPolicy extends KubeObject {
  readonly spec?: { readonly failurePolicy?: string };
}

/** `admissionregistration.k8s.io/v1` ValidatingAdmissionPolicyBinding. */
export interface ValidatingAdmissionPolicyBinding extends KubeObject {
  readonly spec?: {
    readonly policyName?: string;
    readonly paramRef?: object;
    readonly validationActions?: readonly string[];
    /** Narrows where the policy applies (default: nothing is left out). */
    readonly matchResources?: {
      readonly namespaceSelector?: LabelSelector;
      readonly objectSelector?: LabelSelector;
      readonly matchPolicy?: string;
    };
  };
}

/** Where ValidatingAdmissionPolicies are served. */
export const validatingAdmissionPolicies: Kind<ValidatingAdmissionPolicy> = define(
  admission,
  "ValidatingAdmissionPolicy",
  "validatingadmissionpolicies",
  "Cluster",
);
/** Where ValidatingAdmissionPolicyBindings are served. */
export const validatingAdmissionPolicyBindings: Kind<ValidatingAdmissionPolicyBinding> = define(
  admission,
  "ValidatingAdmissionPolicyBinding",
  "validatingadmissionpolicybindings",
  "Cluster",
);

// oxlint-disable-next-line max-params -- the four words of a kind, read like a table
function define<O extends KubeObject>(
  group: string,
  kind: string,
  plural: string,
  scope: Kind["scope"],
): Kind<O> {
  return defineKind<O>({ group, version: "v1", kind, plural, scope });
}
