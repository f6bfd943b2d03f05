import { type Client, inParallel, type ObjectRef, reviewAccess } from "@quartermaster/runtime";
import { z } from "zod";

import { type Permission, sortPermissions } from "./permission.ts";
import { namesObject, namesResource, parsePolicyRules, type PolicyRule } from "./policy-rule.ts";

export interface RulesReview {
  readonly rules: readonly PolicyRule[];
  /** There may be more than what is listed, e.g. behind a webhook. */
  readonly isIncomplete: boolean;
}

/** The responses by namespace; `wholeCluster` for permissions that no namespace limits. */
export type RulesReviews = ReadonlyMap<string, RulesReview>;

/** The key of the review that counts for cluster-wide objects. */
export const wholeCluster = "";

/** The permissions that an account lacks, and those that only an access review can decide. */
export interface PermissionsFinding {
  readonly missing: readonly Permission[];
  readonly doubtful: readonly Permission[];
}

/**
 * Compares what is needed with what the server listed. A permission that is listed is held; one that is not listed is missing, or
 * doubtful where the list is incomplete or was not read. Where no name of a kind is allowed at all, the permission is reported
 * once, without a name.
 */
export function missingPermissions(needed: readonly Permission[], reviews: RulesReviews): PermissionsFinding {
  const candidates = new Map<string, readonly PolicyRule[]>();
  const candidatesFor = (permission: Permission): readonly PolicyRule[] => {
    const key = [permission.namespace, permission.verb, permission.group, permission.resource].join("\u0000");
    const known = candidates.get(key);
    if (known !== undefined) return known;
    const rules = rulesIn(reviews, permission).filter((rule) => namesResource(rule, permission));
    candidates.set(key, rules);
    return rules;
  };
  const lacking = needed.filter(
    (permission) => !candidatesFor(permission).some((rule) => namesObject(rule, permission.name)),
  );
  const isDoubtful = (permission: Permission): boolean =>
    reviewFor(reviews, permission)?.isIncomplete ?? true;
  return {
    missing: sortPermissions(
      lacking
        .filter((permission) => !isDoubtful(permission))
        .map((permission) => (candidatesFor(permission).length === 0 ? withoutName(permission) : permission)),
    ),
    doubtful: sortPermissions(lacking.filter(isDoubtful)),
  };
}

/** Whether the reviews say that the account holds this right. */
export function holdsPermission(permission: Permission, reviews: RulesReviews): boolean {
  return rulesIn(reviews, permission).some(
    (rule) => namesResource(rule, permission) && namesObject(rule, permission.name),
  );
}

/** The rules that count where the permission is needed. */
export function rulesIn(
  reviews: RulesReviews,
  location: Pick<Permission, "namespace">,
): readonly PolicyRule[] {
  return reviewFor(reviews, location)?.rules ?? [];
}

function reviewFor(
  reviews: RulesReviews,
  { namespace }: Pick<Permission, "namespace">,
): RulesReview | undefined {
  return reviews.get(namespace ?? wholeCluster);
}

function withoutName({ name: _name, ...permission }: Permission): Permission {
  return permission;
}

/**
 * No namespace can have this name. The server does not read the namespace that it is queried for, so that the response holds the
 * rules of ClusterRoleBindings and nothing else: exactly what counts for cluster-wide objects.
 */
const noNamespace = "_";

const rulesResponse = z.object({
  status: z.object({
    resourceRules: z.unknown(),
    nonResourceRules: z.unknown(),
    incomplete: z.boolean().optional(),
  }),
});

/** Permissions of the client's account in a namespace, or cluster-wide with `wholeCluster`. */
export async function reviewRules(
  client: Client,
  namespace: string,
  signal: AbortSignal,
): Promise<RulesReview> {
  const planVerdict = await client.raw({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectRulesReview",
      spec: { namespace: namespace === wholeCluster ? noNamespace : namespace },
    },
    signal,
  });
  const { status } = rulesResponse.parse(planVerdict);
  const rules = parsePolicyRules(status.resourceRules);
  const paths = parsePolicyRules(status.nonResourceRules);
  return {
    rules: [...(rules ?? []), ...(paths ?? [])],
    isIncomplete: status.incomplete === true || rules === undefined || paths === undefined,
  };
}

/** How many requests are in progress at the same time. */
const concurrency = 16;

/** Those of the permissions that the account the client speaks as does not have; one request each. */
export async function lackingOf(
  client: Client,
  permissions: readonly Permission[],
  signal: AbortSignal,
): Promise<readonly Permission[]> {
  const responses = await inParallel(
    permissions,
    concurrency,
    async (permission) => await reviewAccess(client, permission, { signal }),
  );
  return permissions.filter((_permission, index) => responses[index] !== true);
}

/** The permission to act as a service account. */
export function impersonationOf({ namespace, name }: ObjectRef): Permission {
  return { verb: "impersonate", group: "", resource: "serviceaccounts", namespace, name };
}
