import { groupOf } from "../identity.ts";
import type { Member } from "../member.ts";

/** One thing an account may do. Without `namespace` it means the whole cluster, without `name` any object of the kind. */
export interface Right {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  /** Plural, with a subresource after a slash. A path such as `/metrics` stands for itself, in the empty group. */
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** What decides which rights a plan needs. */
export interface RightsOptions {
  /** The plural under which a member's kind is served; members without one need nothing yet. */
  readonly pluralOf: (member: Member) => string | undefined;
  /** Whether clean-up, recreation or a handover may delete the member. */
  readonly needsDelete: (member: Member) => boolean;
  /** The plan's namespace when it has jobs. */
  readonly jobsNamespace?: string;
  /** Rights beyond the members', e.g. to delete what a transformation selects. */
  readonly further?: readonly Right[];
}

/** Every right that the plan needs of its account, once each and in a fixed order. */
export function neededRights(members: readonly Member[], options: RightsOptions): readonly Right[] {
  const { jobsNamespace, further = [] } = options;
  const rights = [
    ...members.flatMap((member) => memberRights(member, options)),
    ...(jobsNamespace === undefined ? [] : jobRights(jobsNamespace)),
    ...further,
  ];
  return sortRights(rights);
}

/** The rights in a fixed order, each once. */
export function sortRights(rights: readonly Right[]): readonly Right[] {
  const unique = new Map(rights.map((right) => [rightKey(right), right]));
  return [...unique].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, right]) => right);
}

/** For people: `create roles.rbac.authorization.k8s.io in shop`. */
export function describeRight({ verb, group, resource, namespace, name }: Right): string {
  const kind = group === "" ? resource : `${resource}.${group}`;
  const object = name === undefined ? kind : `${kind} ${name}`;
  return namespace === undefined ? `${verb} ${object}` : `${verb} ${object} in ${namespace}`;
}

/** Sorts by namespace first, so that a list for people reads place by place. */
function rightKey({ verb, group, resource, namespace = "", name = "" }: Right): string {
  return [namespace, group, resource, verb, name].join("\u0000");
}

/** By server-side apply the server knows the name of what it creates, so that a right to create one name alone counts. */
function memberRights(member: Member, { pluralOf, needsDelete }: RightsOptions): readonly Right[] {
  const resource = pluralOf(member);
  if (resource === undefined) return [];
  const { apiVersion, namespace, name } = member.identity;
  const place = { group: groupOf(apiVersion), resource, ...(namespace === undefined ? {} : { namespace }) };
  const verbs = ["create", "get", "patch", ...(needsDelete(member) ? ["delete"] : [])];
  return verbs.map((verb) => ({ verb, ...place, name }));
}

function jobRights(namespace: string): readonly Right[] {
  return ["create", "get", "delete"].map((verb) => ({ verb, group: "batch", resource: "jobs", namespace }));
}
