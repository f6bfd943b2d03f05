import { fieldOf, groupOf, textOf } from "@quartermaster/runtime";

import type { Member } from "../model/member.ts";
import type { Permission } from "./permission.ts";
import { parsePolicyRules, type PolicyRule, uncoveredPermissions } from "./policy-rule.ts";
import { holdsPermission, rulesIn, type RulesReviews } from "./rules-review.ts";

/** A role that a binding points to. Without a namespace it is a ClusterRole. */
export interface RoleRef {
  readonly kind: "Role" | "ClusterRole";
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface EscalationFacts {
  readonly reviews: RulesReviews;
  /**
   * The `rules` of a role in the cluster, as the account sees it; undefined when there is none, `unreadable` where the account
   * may not read it. The plan's own go first.
   */
  readonly roleRules: (role: RoleRef) => unknown;
}

/** Represents the rules of a role that the account may not read. Whether it may bind the role is left to the server's dry run. */
export const unreadable: unique symbol = Symbol("unreadable");

type RbacMember = Pick<Member, "identity" | "manifest">;

/** A role or binding that would give more than the account holds; the server refuses it. */
export interface Escalation {
  readonly member: RbacMember;
  /** Permissions that the role grants and the account lacks. */
  readonly lacking: readonly Permission[];
  /** The permission that lifts the check: `escalate` or `bind`. Worth an access review where the reviews are incomplete. */
  readonly waivedBy: Permission;
}

/**
 * The members that the server's escalation check would refuse: a Role or ClusterRole with rules that the account does not
 * hold in its place, and a binding to such a role, unless the account may `escalate` or `bind`.
 */
export function escalations(members: readonly RbacMember[], facts: EscalationFacts): readonly Escalation[] {
  const rbac = members.filter(isRbac);
  const roles = new Map(rbac.map((member) => [roleKey(member.identity), fieldOf(member.manifest, "rules")]));
  const roleRules = (role: RoleRef): unknown =>
    roles.has(roleKey(role)) ? (roles.get(roleKey(role)) ?? []) : facts.roleRules(role);
  return rbac
    .flatMap((member) => judge(member, { ...facts, roleRules }))
    .filter(({ waivedBy, lacking }) => lacking.length > 0 && !holdsPermission(waivedBy, facts.reviews));
}

/** The roles that bindings among the members point to and that the plan does not bring itself: those to read. */
export function boundRoles(members: readonly RbacMember[]): readonly RoleRef[] {
  const own = new Set(members.filter(isRbac).map(({ identity }) => roleKey(identity)));
  const bound = members
    .filter((member) => isRbac(member) && isBinding(member))
    .map((member) => roleRefOf(member));
  const foreign = bound.filter((role) => !own.has(roleKey(role)));
  return [...new Map(foreign.map((role) => [roleKey(role), role])).values()];
}

const rbacGroup = "rbac.authorization.k8s.io";

function isRbac({ identity }: RbacMember): boolean {
  return groupOf(identity.apiVersion) === rbacGroup;
}

function isBinding({ identity: { kind } }: RbacMember): boolean {
  return kind === "RoleBinding" || kind === "ClusterRoleBinding";
}

function roleKey({
  kind,
  namespace = "",
  name,
}: {
  kind: string;
  namespace?: string | undefined;
  name: string;
}): string {
  return `${kind}/${namespace}/${name}`;
}

function judge(member: RbacMember, facts: EscalationFacts): readonly Escalation[] {
  const { kind } = member.identity;
  if (kind === "Role" || kind === "ClusterRole") return [judgeRole(member, facts)];
  return isBinding(member) ? [judgeBinding(member, facts)] : [];
}

/** An account that lets a role aggregate the rules of others must hold every permission: the result is not known in advance. */
const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: [], nonResourceURLs: [] },
  { verbs: ["*"], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ["*"] },
];

function judgeRole(member: RbacMember, { reviews }: EscalationFacts): Escalation {
  const { kind, namespace, name } = member.identity;
  const isAggregated = (fieldOf(member.manifest, "aggregationRule") ?? null) !== null;
  // Malformed rules are the server's to refuse in the dry run; they give nothing.
  const rules = isAggregated ? everything : (parsePolicyRules(fieldOf(member.manifest, "rules")) ?? []);
  const resource = kind === "Role" ? "roles" : "clusterroles";
  return {
    member,
    lacking: uncoveredPermissions(rules, rulesIn(reviews, { namespace }), namespace),
    waivedBy: { verb: "escalate", group: rbacGroup, resource, namespace, name },
  };
}

/** A ClusterRole that is bound by a RoleBinding gives its rules in that namespace only, and is judged there. */
function judgeBinding(member: RbacMember, { reviews, roleRules }: EscalationFacts): Escalation {
  const { namespace } = member.identity;
  const location = { namespace };
  const role = roleRefOf(member);
  const waivedBy = bindingRight(member);
  if (roleRules(role) === unreadable) return { member, lacking: [], waivedBy };
  const rules = parsePolicyRules(roleRules(role) ?? undefined);
  // The server cannot check a role that is not there and then requests the permission to bind.
  const isThere = roleRules(role) !== undefined && rules !== undefined;
  const lacking = isThere ? uncoveredPermissions(rules, rulesIn(reviews, location), namespace) : [waivedBy];
  return { member, lacking, waivedBy };
}

/** The permission to bind the role that a binding refers to, in the binding's place. */
export function bindingRight(member: RbacMember): Permission {
  const { namespace } = member.identity;
  const role = roleRefOf(member);
  const resource = role.kind === "Role" ? "roles" : "clusterroles";
  return {
    verb: "bind",
    group: rbacGroup,
    resource,
    namespace,
    name: role.name,
  };
}

function roleRefOf({ manifest, identity: { namespace } }: RbacMember): RoleRef {
  const roleRef = fieldOf(manifest, "roleRef");
  const name = textOf(roleRef, "name") ?? "";
  if (textOf(roleRef, "kind") !== "Role" || namespace === undefined) return { kind: "ClusterRole", name };
  return { kind: "Role", namespace, name };
}
