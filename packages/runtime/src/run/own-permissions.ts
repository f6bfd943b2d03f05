import type { DomainPermission, OperatorRole } from "./domain.ts";

/** A permission that `run` needs by itself, whichever domains run. */
export interface OwnPermission extends DomainPermission {
  readonly role: OperatorRole;
  /** Only within the operator's own namespace. */
  readonly isNamespaced: boolean;
  readonly resourceNames?: readonly string[];
}

/** What is known about the operator. */
export interface OwnPermissionsOptions {
  /** As `run` is given it. */
  readonly name: string;
  /** Where it runs. */
  readonly namespace: string;
  /** Whether a domain has webhooks. */
  readonly hasWebhooks: boolean;
}

/** What an operator does with its own identity besides its domains, by role. RBAC is generated from it. */
export function ownPermissions({
  name,
  namespace,
  hasWebhooks,
}: OwnPermissionsOptions): readonly OwnPermission[] {
  if (!hasWebhooks) return controllerPermissions;
  return [
    ...controllerPermissions,
    ...configurationPermissions(namespace),
    ...authorityPermissions(`${name}-webhook-ca`),
    platformPermission(`${name}-webhook-service-ca`),
  ];
}

const controllerPermissions: readonly OwnPermission[] = [
  {
    role: "controllers",
    isNamespaced: false,
    reason: "Reports to users what happened.",
    apiGroups: ["events.k8s.io"],
    resources: ["events"],
    verbs: ["create", "patch"],
  },
  {
    role: "controllers",
    isNamespaced: true,
    reason: "One replica acts at a time.",
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    verbs: ["get", "create", "update"],
  },
];

function configurationPermissions(namespace: string): readonly OwnPermission[] {
  return [
    {
      role: "controllers",
      isNamespaced: false,
      reason:
        "Webhook configurations of our own: created, restored when edited, and deleted when not needed.",
      apiGroups: ["admissionregistration.k8s.io"],
      resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
      verbs: ["get", "list", "watch", "create", "update", "delete"],
    },
    {
      role: "controllers",
      isNamespaced: false,
      reason: "Owner of these configurations, so that they go with the operator's namespace.",
      apiGroups: [""],
      resources: ["namespaces"],
      resourceNames: [namespace],
      verbs: ["get"],
    },
  ];
}

/** RBAC cannot limit a create to a name: that is why it stands apart. */
function authorityPermissions(authority: string): readonly OwnPermission[] {
  const named = { isNamespaced: true, apiGroups: [""], resourceNames: [authority] };
  const made = { isNamespaced: true, apiGroups: [""], verbs: ["create"] };
  return [
    {
      ...named,
      role: "controllers",
      reason: "The authorities that webhook configurations trust; without their keys.",
      resources: ["configmaps"],
      verbs: ["get", "list", "watch"],
    },
    {
      ...named,
      role: "webhook",
      reason: "The authority that signs the webhook's certificates, shared by its replicas.",
      resources: ["secrets"],
      verbs: ["get", "update"],
    },
    {
      ...named,
      role: "webhook",
      reason: "What others need to trust it.",
      resources: ["configmaps"],
      verbs: ["get", "list", "watch", "patch"],
    },
    {
      ...made,
      role: "webhook",
      reason: "Both, when they do not exist yet.",
      resources: ["secrets", "configmaps"],
    },
  ];
}

/** Only where somebody else signs; see `authoritySource`. */
function platformPermission(source: string): OwnPermission {
  return {
    role: "webhook",
    isNamespaced: true,
    reason: "Authorities of the platform, where it signs the webhook's certificates.",
    apiGroups: [""],
    resources: ["configmaps"],
    resourceNames: [source],
    verbs: ["list", "watch"],
  };
}
