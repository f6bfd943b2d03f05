import { type AccessRequest, groupOf, timestampOf } from "@quartermaster/runtime";

import type { Member } from "../model/member.ts";
import { hasStarted, type PlanStatus } from "../model/plan-status.ts";
import type { Seen } from "../seen.ts";

/** One thing an account may do. Without `namespace` it means the whole cluster, without `name` any object of the kind. */
export type Permission = AccessRequest;

export interface PermissionsOptions<M> {
  /** The plural under which a member's kind is served; members without one need nothing yet. */
  readonly pluralOf: (member: M) => string | undefined;
  /** Whether clean-up, recreation or a handover may delete the member. */
  readonly needsDelete: (member: M) => boolean;
  /** The plan's namespace when it has jobs. */
  readonly jobsNamespace?: string | undefined;
  /** Permissions beyond the members', e.g. to delete what a transformation selects. */
  readonly further?: readonly Permission[] | undefined;
}

/** Every permission that the plan needs of its account, once each and in a fixed order. */
export function neededPermissions<M extends Pick<Member, "identity">>(
  members: readonly M[],
  options: PermissionsOptions<M>,
): readonly Permission[] {
  const { jobsNamespace, further = [] } = options;
  const permissions = [
    ...members.flatMap((member) => memberPermissions(member, options)),
    ...(jobsNamespace === undefined ? [] : jobPermissions(jobsNamespace)),
    ...further,
  ];
  return sortPermissions(permissions);
}

/** The permissions in a fixed order, each once. */
export function sortPermissions(permissions: readonly Permission[]): readonly Permission[] {
  const unique = new Map(permissions.map((permission) => [permissionKey(permission), permission]));
  return [...unique].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, permission]) => permission);
}

/** For people: `create roles.rbac.authorization.k8s.io in shop`. */
export function describePermission({ verb, group, resource, namespace, name }: Permission): string {
  const kind = group === "" ? resource : `${resource}.${group}`;
  const object = name === undefined ? kind : `${kind} ${name}`;
  return namespace === undefined ? `${verb} ${object}` : `${verb} ${object} in ${namespace}`;
}

/** Sorts by namespace first, so that a list for people reads place by place. */
function permissionKey({ verb, group, resource, namespace = "", name = "" }: Permission): string {
  return [namespace, group, resource, verb, name].join("\u0000");
}

/** By server-side apply the server knows the name of what it creates, so that a permission to create one name alone counts. */
function memberPermissions<M extends Pick<Member, "identity">>(
  member: M,
  { pluralOf, needsDelete }: PermissionsOptions<M>,
): readonly Permission[] {
  const resource = pluralOf(member);
  if (resource === undefined) return [];
  const { apiVersion, namespace, name } = member.identity;
  const location = { group: groupOf(apiVersion), resource, namespace };
  const verbs = ["create", "get", "patch", ...(needsDelete(member) ? ["delete"] : [])];
  return verbs.map((verb) => ({ verb, ...location, name }));
}

function jobPermissions(namespace: string): readonly Permission[] {
  return ["create", "get", "delete"].map((verb) => ({ verb, group: "batch", resource: "jobs", namespace }));
}

export function describeLacking({ plan }: Pick<Seen, "plan">, missing: readonly Permission[]): string {
  return `Service account ${plan.spec.serviceAccountName} may not ${missing.map(describePermission).join("; ")}.`;
}

const missingLimit = 200;

/** The permissions that the account lacks, all of them. The time changes with the list only: another review is no news. */
export function permissionsOf({ preflight, plan }: Seen, now: Date): PlanStatus["permissions"] {
  const { permissions: before } = plan.status ?? {};
  if (preflight === undefined) return hasStarted(plan) ? undefined : before;
  const missing = preflight.missingPermissions.slice(0, missingLimit);
  const isSame = JSON.stringify(before?.missing ?? []) === JSON.stringify(missing);
  const checkedAt = (isSame ? before?.checkedAt : undefined) ?? timestampOf(now);
  return { checkedAt, ...(missing.length === 0 ? {} : { missing }) };
}
