import { configurationKinds } from "../webhook/webhook-configuration.ts";
import type { ConfigurationName, DomainPermission, OperatorRole } from "./domain.ts";

/** A permission that `run` needs on its own, whichever domains run. */
export interface OwnPermission extends DomainPermission {
  readonly role: OperatorRole;
  /** Only within the operator's own namespace. */
  readonly isNamespaced: boolean;
  readonly resourceNames?: readonly string[];
}

export interface OwnPermissionsOptions {
  /** As `run` is given it. */
  readonly name: string;
  /** Where it runs. */
  readonly namespace: string;
  /** Webhook configurations of the domains; undefined where none has webhooks. */
  readonly configurations: readonly ConfigurationName[] | undefined;
  /** ClusterRole that they belong to (default: they belong to the namespace). */
  readonly clusterRole?: string | undefined;
}

/** Permissions of the operator's own identity besides its domains, by role. RBAC is generated from it. */
export function ownPermissions({
  name,
  namespace,
  configurations,
  clusterRole,
}: OwnPermissionsOptions): readonly OwnPermission[] {
  if (configurations === undefined) return controllerPermissions;
  return [
    ...controllerPermissions,
    ...configurationPermissions(configurations),
    ownerPermission(namespace, clusterRole),
    ...caPermissions(`${name}-webhook-ca`),
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

/** By name only: who may create a configuration can see and change every request of the cluster. */
function configurationPermissions(configurations: readonly ConfigurationName[]): readonly OwnPermission[] {
  const byKind = [...Map.groupBy(configurations, ({ kind }) => kind)];
  return byKind.map(([kind, group]) => ({
    role: "controllers" as const,
    isNamespaced: false,
    reason:
      "Webhook configurations of our own, which the installation brings: filled in, restored when edited, and emptied when not needed.",
    apiGroups: ["admissionregistration.k8s.io"],
    resources: [configurationKinds[kind].plural],
    resourceNames: group.map(({ name }) => name),
    verbs: ["get", "list", "watch", "update"],
  }));
}

function ownerPermission(namespace: string, clusterRole: string | undefined): OwnPermission {
  const reading = { role: "controllers", isNamespaced: false, verbs: ["get"] } as const;
  if (clusterRole === undefined)
    return {
      ...reading,
      reason: "Owner of these configurations: they are deleted with the operator's namespace.",
      apiGroups: [""],
      resources: ["namespaces"],
      resourceNames: [namespace],
    };
  return {
    ...reading,
    reason: "Owner of these configurations: they are deleted with the installation.",
    apiGroups: ["rbac.authorization.k8s.io"],
    resources: ["clusterroles"],
    resourceNames: [clusterRole],
  };
}

/** By name only: RBAC cannot limit a create, and who may create Secrets can make a token of every account of the namespace. */
function caPermissions(ca: string): readonly OwnPermission[] {
  const named = { isNamespaced: true, apiGroups: [""], resourceNames: [ca] };
  return [
    {
      ...named,
      role: "controllers",
      reason: "The CAs that webhook configurations trust; without their keys.",
      resources: ["configmaps"],
      verbs: ["get", "list", "watch"],
    },
    {
      ...named,
      role: "webhook",
      reason:
        "The CA that signs the webhook's certificates, shared by its replicas. The installation brings it, empty.",
      resources: ["secrets"],
      verbs: ["get", "update"],
    },
    {
      ...named,
      role: "webhook",
      reason: "What others need to trust it; the installation brings it too.",
      resources: ["configmaps"],
      verbs: ["get", "list", "watch", "patch"],
    },
  ];
}

/** Only where another program signs; see `authoritySource`. */
function platformPermission(source: string): OwnPermission {
  return {
    role: "webhook",
    isNamespaced: true,
    reason: "CAs of the platform, where it signs the webhook's certificates.",
    apiGroups: [""],
    resources: ["configmaps"],
    resourceNames: [source],
    verbs: ["list", "watch"],
  };
}
