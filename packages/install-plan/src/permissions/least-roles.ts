import type { InstallPlan } from "@quartermaster/api";
import type { KubeObject } from "@quartermaster/runtime";

import type { Lifecycle, Member } from "../model/member.ts";
import { escalations } from "./escalation.ts";
import { neededPermissions, type Permission, sortPermissions } from "./permission.ts";

/** An object of a plan, as far as permissions depend on it. */
export type GrantedMember = Pick<Member, "identity" | "manifest"> & {
  readonly lifecycle: Pick<Lifecycle, "cleanup" | "onImmutable">;
  /** The plural under which its kind is served; undefined while it is not. */
  readonly plural: string | undefined;
};

/**
 * Every permission that the service account needs for the objects and jobs of a plan: to write them, and to hold what its roles and
 * bindings grant. What transformations select is not known without the cluster and not part of it.
 */
export function leastPermissions(
  { metadata, spec }: InstallPlan,
  members: readonly GrantedMember[],
): readonly Permission[] {
  const hasJobs = spec.stages.some(({ jobs = [] }) => jobs.length > 0);
  const isReplacing = (spec.replaces?.plans ?? []).length > 0 || spec.replaces?.selector !== undefined;
  const needed = neededPermissions(members, {
    pluralOf: ({ plural }) => plural,
    needsDelete: ({ lifecycle }) =>
      isReplacing || lifecycle.cleanup === "Delete" || lifecycle.onImmutable === "Recreate",
    jobsNamespace: hasJobs ? metadata.namespace : undefined,
  });
  const granted = escalations(members, { reviews: new Map(), roleRules: () => undefined });
  return sortPermissions([...needed, ...granted.flatMap(({ lacking }) => lacking)]);
}

/** Roles with just these permissions, bound to the service account of the plan: one for each namespace, and one for the cluster. */
export function leastRoles(plan: InstallPlan, permissions: readonly Permission[]): readonly KubeObject[] {
  return [...Map.groupBy(permissions, ({ namespace = "" }) => namespace)].flatMap(([namespace, own]) =>
    roleWithBinding(plan, { namespace, rules: rulesOf(own) }),
  );
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

function rulesOf(permissions: readonly Permission[]): readonly Rule[] {
  const byResource = Map.groupBy(permissions, ({ group, resource }) => JSON.stringify([group, resource]));
  return [...byResource.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : resourceRules(first, [first, ...others]),
  );
}

/** Verbs with the same names share a rule. A verb that is needed for all names needs no names. */
function resourceRules(
  { group, resource }: Pick<Permission, "group" | "resource">,
  permissions: readonly Permission[],
): readonly Rule[] {
  const byVerb = Map.groupBy(permissions, ({ verb }) => verb);
  const named = [...byVerb].map(([verb, own]) => ({
    verb,
    names: own.some(({ name }) => name === undefined) ? [] : own.flatMap(({ name }) => name ?? []),
  }));
  return [...Map.groupBy(named, ({ names }) => names.join("/")).values()].map((same) => {
    const verbs = same.map(({ verb }) => verb);
    const names = same[0]?.names ?? [];
    if (resource.startsWith("/")) return { nonResourceURLs: [resource === "/*" ? "*" : resource], verbs };
    const rule = { apiGroups: [group], resources: [resource] };
    return names.length === 0 ? { ...rule, verbs } : { ...rule, resourceNames: names, verbs };
  });
}

function roleWithBinding(
  { metadata, spec }: InstallPlan,
  { namespace, rules }: { readonly namespace: string; readonly rules: readonly Rule[] },
): readonly KubeObject[] {
  const isClusterWide = namespace === "";
  const { name: plan, namespace: home = "" } = metadata;
  const role = isClusterWide ? "ClusterRole" : "Role";
  const name = isClusterWide || namespace !== home ? `${home}-${plan}-installer` : `${plan}-installer`;
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const own = isClusterWide ? { name } : { namespace, name };
  return [
    { apiVersion, kind: role, metadata: own, rules } as KubeObject,
    {
      apiVersion,
      kind: `${role}Binding`,
      metadata: own,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: role, name },
      subjects: [{ kind: "ServiceAccount", namespace: home, name: spec.serviceAccountName }],
    } as KubeObject,
  ];
}
