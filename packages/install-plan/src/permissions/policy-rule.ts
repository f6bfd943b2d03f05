import { z } from "zod";

const texts = z.array(z.string()).nullish();

/** Whatever a role or a review says; absent lists are null there. */
const policyRule = z.object({
  verbs: texts,
  apiGroups: texts,
  resources: texts,
  resourceNames: texts,
  nonResourceURLs: texts,
});

/** What RBAC calls a rule: every verb on every resource of every group; no names means all names. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** Reads the rules of a role or of a review. Undefined when they are no rules at all. */
export function parsePolicyRules(value: unknown): readonly PolicyRule[] | undefined {
  const parsed = z.array(policyRule).nullish().safeParse(value);
  if (!parsed.success) return undefined;
  return (parsed.data ?? []).map(({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }) => ({
    verbs: verbs ?? [],
    apiGroups: apiGroups ?? [],
    resources: resources ?? [],
    resourceNames: resourceNames ?? [],
    nonResourceURLs: nonResourceURLs ?? [],
  }));
}

/** Whether one rule names the verb, group and resource, `*` included; names aside. */
export function namesResource(
  rule: PolicyRule,
  { verb, group, resource }: { readonly verb: string; readonly group: string; readonly resource: string },
): boolean {
  return (
    has(rule.verbs, verb) &&
    has(rule.apiGroups, group) &&
    (has(rule.resources, resource) || rule.resources.includes(`*${resource.slice(slashOf(resource))}`))
  );
}

/** Whether the rule holds for an object of this name; undefined asks for all names. */
export function namesObject({ resourceNames }: PolicyRule, name: string | undefined): boolean {
  return resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name));
}

/** Whether the rule holds for a path that is no resource; a `*` at the end matches the rest. */
export function namesPath({ verbs, nonResourceURLs }: PolicyRule, verb: string, path: string): boolean {
  return (
    has(verbs, verb) &&
    nonResourceURLs.some((url) => url === path || (url.endsWith("*") && path.startsWith(url.slice(0, -1))))
  );
}

function has(list: readonly string[], item: string): boolean {
  return list.includes("*") || list.includes(item);
}

/** Where the subresource starts. Without one nothing is cut off, and `*deployments` is no name of anything. */
function slashOf(resource: string): number {
  return Math.max(0, resource.indexOf("/"));
}
