import type { Permission } from "./permission.ts";
import { type PolicyRule, uncoveredPermissions } from "./policy-rule.ts";

/**
 * Permissions that the rules of an account give in a namespace beyond the needed ones. What every authenticated user may do, such as
 * reviews of its own permissions, is left out.
 */
export function permissionsBeyond(
  rules: readonly PolicyRule[],
  needed: readonly Permission[],
  namespace?: string,
): readonly Permission[] {
  const held = needed.map(({ verb, group, resource, name }) => ({
    verbs: [verb],
    apiGroups: [group],
    resources: [resource],
    resourceNames: name === undefined ? [] : [name],
    nonResourceURLs: [],
  }));
  const own = rules.filter(
    ({ apiGroups, nonResourceURLs }) => nonResourceURLs.length === 0 && !isEveryones(apiGroups),
  );
  return uncoveredPermissions(own, held, namespace);
}

function isEveryones(groups: readonly string[]): boolean {
  return groups.every((group) => group === "authorization.k8s.io" || group === "authentication.k8s.io");
}
