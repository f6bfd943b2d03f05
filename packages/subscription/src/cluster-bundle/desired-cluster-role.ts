import { clusterBundle, SUBSCRIPTION_GROUP } from "@quartermaster/api";
import {
  type Desired,
  fieldOf,
  type InformerRequest,
  isJsonObject,
  type Kind,
  type Live,
  nameOfKind,
} from "@quartermaster/runtime";
import { type ClusterRole, clusterRoles, type PolicyRule } from "@quartermaster/runtime/kinds";

import { aggregateToPrefix } from "./aggregation.ts";

/** A Share that the role permits to use. */
export interface GrantedShare {
  readonly kind: Kind;
  readonly name: string;
}

/** Name of the ClusterRole that permits the use of a ClusterBundle. */
export function clusterRoleName(bundle: string): string {
  return `${bundle}-subscription-bundle`;
}

/** The ClusterRole: who holds it may use the bundle and exactly these Shares. */
export function desiredClusterRole(
  bundle: string,
  shares: readonly GrantedShare[],
  labels: Readonly<Record<string, string>>,
): Desired<ClusterRole> {
  const rules = [...shareRules(shares), ruleFor(SUBSCRIPTION_GROUP, clusterBundle.kind.plural, [bundle])];
  return { metadata: { name: clusterRoleName(bundle), labels }, rules };
}

/**
 * The merge patch that removes manual additions to the role, because they would give the permission to others; undefined
 * when there is nothing. It restores the rules too: the API server refuses any write to a role that grants more than we have. It means
 * the role that was seen: another client's role of the same name must keep its rules.
 */
export function foreignParts(
  live: ClusterRole,
  { metadata, rules }: Desired<ClusterRole>,
): object | undefined {
  const labels = metadata.labels ?? {};
  const present = Object.keys(live.metadata.labels ?? {});
  const added = present.filter(
    (label) => label.startsWith(aggregateToPrefix) && !Object.hasOwn(labels, label),
  );
  if (added.length === 0) return undefined;
  const { uid, resourceVersion } = live.metadata;
  const removed = Object.fromEntries(added.map((label) => [label, null]));
  return { metadata: { uid, resourceVersion, labels: removed }, rules };
}

/**
 * Whether the role has an aggregation rule: then it grants what that rule selects. Only who has every permission may write
 * such a role, so we cannot restore it.
 */
export function isOverridden(live: ClusterRole | undefined): boolean {
  return live?.aggregationRule !== undefined;
}

/**
 * All ClusterRoles, because one of another client under our name has to be seen. Of those that no ClusterBundle controls only names and
 * aggregation rules are kept.
 */
export const roleSource: InformerRequest<ClusterRole> = {
  kind: clusterRoles,
  keepManagedFields: true,
  projection: { name: "rolesOfBundles", project: keptRole },
};

function keptRole(role: Live): ClusterRole {
  const { apiVersion, kind, metadata } = role;
  const { name, uid, resourceVersion, ownerReferences = [] } = metadata;
  const isOfBundle = ownerReferences.some(
    (owner) => owner.controller === true && owner.kind === clusterBundle.kind.kind,
  );
  if (isOfBundle) return role;
  const aggregationRule = fieldOf(role, "aggregationRule");
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, ownerReferences },
    ...(isJsonObject(aggregationRule) ? { aggregationRule } : {}),
  };
}

/** `use` is what drivers and the share driver request; the webhook requests `get`. */
const verbs = ["get", "list", "watch", "use"] as const;

function shareRules(shares: readonly GrantedShare[]): readonly PolicyRule[] {
  const byKind = Map.groupBy(shares, ({ kind }) => nameOfKind(kind));
  return [...byKind.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const names = [first, ...others].map(({ name }) => name);
    const [one = first.name, ...rest] = names.toSorted();
    return [ruleFor(first.kind.group, first.kind.plural, [one, ...rest])];
  });
}

/** At least one name, by type: a rule without resourceNames would permit the use of every object of the cluster. */
function ruleFor(
  apiGroup: string,
  resource: string,
  resourceNames: readonly [string, ...string[]],
): PolicyRule {
  return { apiGroups: [apiGroup], resources: [resource], resourceNames, verbs };
}
