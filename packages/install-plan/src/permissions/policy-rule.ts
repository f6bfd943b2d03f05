import { z } from "zod";

import { type Permission, sortPermissions } from "./permission.ts";

const texts = z.array(z.string()).nullish();

/** Whatever a role or a review says; absent lists are null there. */
const policyRule = z.object({
  verbs: texts,
  apiGroups: texts,
  resources: texts,
  resourceNames: texts,
  nonResourceURLs: texts,
});

/** A rule of RBAC: every verb on every resource of every group; no names means all names. */
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

/** Whether the rule holds for an object of this name; undefined requests all names. */
export function namesObject({ resourceNames }: PolicyRule, name: string | undefined): boolean {
  return resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name));
}

/** Whether the rule holds for a path that is no resource; a `*` at the end matches the rest. */
function namesPath({ verbs, nonResourceURLs }: PolicyRule, verb: string, path: string): boolean {
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

/**
 * Permissions of `wanted` that `held` lacks, broken down to single permissions as the API server's escalation check does. A wildcard
 * is covered by the same wildcard only: holding every verb there is today is not the same as holding `*`.
 */
export function uncoveredPermissions(
  wanted: readonly PolicyRule[],
  held: readonly PolicyRule[],
  namespace?: string,
): readonly Permission[] {
  const resources = wanted
    .flatMap((rule) => singlePermissions(rule))
    .filter(
      (permission) =>
        !held.some((rule) => namesResource(rule, permission) && namesObject(rule, permission.name)),
    );
  const paths = wanted
    .flatMap((rule) => singlePaths(rule))
    .filter(({ verb, path }) => !held.some((rule) => namesPath(rule, verb, path)))
    .map(({ verb, path }) => ({ verb, group: "", resource: path === "*" ? "/*" : path }));
  return sortPermissions([...resources, ...paths].map((permission) => ({ ...permission, namespace })));
}

function singlePermissions({
  verbs,
  apiGroups,
  resources,
  resourceNames,
}: PolicyRule): readonly Permission[] {
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ name }));
  return verbs.flatMap((verb) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => names.map((name) => ({ verb, group, resource, ...name }))),
    ),
  );
}

function singlePaths({
  verbs,
  nonResourceURLs,
}: PolicyRule): readonly { readonly verb: string; readonly path: string }[] {
  return verbs.flatMap((verb) => nonResourceURLs.map((path) => ({ verb, path })));
}
