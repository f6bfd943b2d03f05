import { type ConditionUpdate, type LabelRequirement, meetsAll, type Why } from "@quartermaster/runtime";
import type { ClusterRole, LabelSelector } from "@quartermaster/runtime/kinds";

import { abnormal, bundleReasons, conditionTypes, mostUrgent } from "../bundle-reasons.ts";

/** Which ClusterRoles a bundle's permission may be aggregated to. */
export interface AggregationSettings {
  /** Roles that bundles may name. */
  readonly allowedClusterRoles: readonly string[];
  /** Roles of bundles that name none. */
  readonly defaultClusterRoles: readonly string[];
}

/** Labels for the bundle's ClusterRole, and whether they have an effect. */
export interface Aggregation {
  readonly labels: Readonly<Record<string, string>>;
  readonly condition: ConditionUpdate;
}

/** Every label with this prefix makes a ClusterRole part of another one. */
export const aggregateToPrefix = "rbac.authorization.k8s.io/aggregate-to-";

/** The roles that a bundle's permission is to be part of. An empty list is a choice; only a missing one means the default. */
export function wantedRoles(
  named: readonly string[] | undefined,
  { defaultClusterRoles }: AggregationSettings,
): readonly string[] {
  return [...new Set(named ?? defaultClusterRoles)];
}

/**
 * Aggregates by labels, never by editing the other role. Only allowed roles get a label: otherwise anyone who may write a
 * ClusterBundle could give access to all users. `targets` are the roles as they are; a missing one is undefined.
 */
export function aggregate(
  roles: readonly string[],
  allowed: readonly string[],
  targets: ReadonlyMap<string, ClusterRole | undefined>,
): Aggregation {
  const labelled = roles.filter((role) => allowed.includes(role) && isLabelName(`aggregate-to-${role}`));
  const labels = Object.fromEntries(labelled.map((role) => [`${aggregateToPrefix}${role}`, "true"]));
  const problems = roles.flatMap(
    (role) => problemOf(role, { allowed, labels, target: targets.get(role) }) ?? [],
  );
  const problem = mostUrgent(problems, urgency);
  return { labels, condition: abnormal(conditionTypes.aggregationIneffective, problem, aggregated) };
}

const urgency = [
  bundleReasons.roleNotAllowed,
  bundleReasons.roleNotFound,
  bundleReasons.roleDoesNotAggregate,
];

const aggregated: Why = {
  reason: bundleReasons.aggregated,
  message: "All named ClusterRoles include the permission to use the bundle.",
};

interface Target {
  readonly allowed: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly target: ClusterRole | undefined;
}

function problemOf(role: string, { allowed, labels, target }: Target): Why | undefined {
  if (!allowed.includes(role))
    return {
      reason: bundleReasons.roleNotAllowed,
      message: `ClusterRole "${role}" is not in allowedClusterRoles of the operator's configuration.`,
    };
  if (target === undefined)
    return { reason: bundleReasons.roleNotFound, message: `ClusterRole "${role}" does not exist.` };
  const selectors = target.aggregationRule?.clusterRoleSelectors ?? [];
  if (selectors.some((selector) => selects(selector, labels))) return undefined;
  return {
    reason: bundleReasons.roleDoesNotAggregate,
    message: `ClusterRole "${role}" has no aggregation rule that selects ${aggregateToPrefix}${role}=true.`,
  };
}

function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Aggregation["labels"],
): boolean {
  const requirements = [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: "In" as const, values: [value] })),
    ...matchExpressions.map(({ key, operator, values = [] }) => ({
      key,
      operator: operatorOf(operator),
      values,
    })),
  ];
  const known = new Map(Object.entries(labels));
  return requirements.length > 0 && meetsAll((key) => known.get(key), requirements);
}

/** The API server accepts no others. */
function operatorOf(operator: string): LabelRequirement["operator"] {
  return operator === "NotIn" || operator === "Exists" || operator === "DoesNotExist" ? operator : "In";
}

function isLabelName(name: string): boolean {
  return name.length <= 63 && /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(name);
}
