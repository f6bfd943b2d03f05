import type { InstallPlan } from "@quartermaster/api";
import { type Client, fieldOf, inParallel } from "@quartermaster/runtime";
import { clusterRoles, roles } from "@quartermaster/runtime/kinds";

import { findAsAccount } from "../account/account.ts";
import type { Replacement } from "../handover/replacement.ts";
import type { Member } from "../model/member.ts";
import { boundRoles, escalations, type RoleRef, unreadable } from "../permissions/escalation.ts";
import {
  describePermission,
  neededPermissions,
  type Permission,
  sortPermissions,
} from "../permissions/permission.ts";
import {
  lackingOf,
  missingPermissions,
  reviewRules,
  type RulesReview,
  type RulesReviews,
  wholeCluster,
} from "../permissions/rules-review.ts";

export interface PermissionsQuery {
  readonly plan: InstallPlan;
  readonly members: readonly Member[];
  readonly replacement: Replacement;
  /** Permissions beyond those for the members. */
  readonly further: readonly Permission[];
  readonly pluralOf: (member: Member) => string | undefined;
  /** Speaks as the account. */
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** Every permission that the account lacks for the plan as a whole, with one review per namespace. */
export async function lackingPermissions(question: PermissionsQuery): Promise<readonly Permission[]> {
  const { plan, members, client, signal, pluralOf } = question;
  const { namespace: home = "" } = plan.metadata;
  const hasJobs = plan.spec.stages.some(({ jobs = [] }) => jobs.length > 0);
  const needed = neededPermissions(members, {
    pluralOf,
    needsDelete: (member) => mayBeDeleted(member, question),
    further: question.further,
    ...(hasJobs ? { jobsNamespace: home } : {}),
  });
  const locations = [...new Set(needed.map(({ namespace = wholeCluster }) => namespace))];
  const responses = await inParallel(
    locations,
    16,
    async (location) => await reviewRules(client, location, signal),
  );
  const reviews = new Map<string, RulesReview>(
    locations.flatMap((location, index) => {
      const review = responses[index];
      return review === undefined ? [] : [[location, review] as const];
    }),
  );
  const { missing, doubtful } = missingPermissions(needed, reviews);
  const denied = await lackingOf(client, doubtful, signal);
  return sortPermissions([...missing, ...denied, ...(await escalationPermissions(question, reviews))]);
}

/** Permissions that roles and bindings of the plan would grant beyond those of the account. */
async function escalationPermissions(
  { members, client, signal }: PermissionsQuery,
  reviews: RulesReviews,
): Promise<readonly Permission[]> {
  const bound = boundRoles(members);
  const rules = await inParallel(bound, 16, async (role) => await rulesOf(role, client));
  const known = new Map(bound.map((role, index) => [describeRole(role), rules[index]]));
  const found = escalations(members, { reviews, roleRules: (role) => known.get(describeRole(role)) });
  // A list that is incomplete may hide the permission that lifts the check.
  const waivers = sortPermissions(found.map(({ waivedBy }) => waivedBy));
  const denied = await lackingOf(client, waivers, signal);
  return found
    .filter(({ waivedBy }) =>
      denied.some((permission) => describePermission(permission) === describePermission(waivedBy)),
    )
    .flatMap(({ lacking }) => lacking);
}

/** As the account: what a role gives is shown as missing permissions, one by one. */
async function rulesOf(role: RoleRef, account: Client): Promise<unknown> {
  const kind = [roles, clusterRoles].find((known) => known.kind === role.kind);
  if (kind === undefined) return undefined;
  const found = await findAsAccount(account, kind, role);
  if (found === "unknown") return unreadable;
  return found === undefined ? undefined : (fieldOf(found, "rules") ?? []);
}

function describeRole({ kind, namespace = "", name }: RoleRef): string {
  return `${kind}/${namespace}/${name}`;
}

/** Clean-up is not the moment to find out that the account may not delete. */
function mayBeDeleted({ lifecycle }: Member, { replacement }: PermissionsQuery): boolean {
  return (
    lifecycle.cleanup === "Delete" ||
    lifecycle.onImmutable === "Recreate" ||
    replacement.predecessors.length > 0
  );
}
