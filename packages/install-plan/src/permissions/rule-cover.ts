import { sortPermissions, type Permission } from "./permission.ts";
import { namesObject, namesPath, namesResource, type PolicyRule } from "./policy-rule.ts";

/**
 * What `wanted` allows and `held` does not, broken down to single permissions as the API server's escalation check does. A wildcard
 * is covered by the same wildcard only: holding every verb there is today is not the same as holding `*`.
 */
export function uncoveredPermissions(
  wanted: readonly PolicyRule[],
  held: readonly PolicyRule[],
  namespace?: string,
): readonly Permission[] {
  const place = namespace === undefined ? {} : { namespace };
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
  return sortPermissions([...resources, ...paths].map((permission) => ({ ...permission, ...place })));
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
