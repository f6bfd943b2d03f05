import type { InstallPlan } from "@quartermaster/api";
import {
  classify,
  type Context,
  type Discovery,
  inParallel,
  type Kind,
  type KubeObject,
} from "@quartermaster/runtime";
import { customResourceDefinitions } from "@quartermaster/runtime/kinds";

import { asAccount, findAsAccount } from "../account/account.ts";
import { protectionOf } from "../inventory/protection.ts";
import type { Content } from "../manifest/content.ts";
import { kindIn, type KindTable } from "../manifest/kind-table.ts";
import { isCrd } from "../manifest/provided-kinds.ts";
import type { Transformation } from "../manifest/transformation-problems.ts";
import { describeIdentity, identityOf } from "../model/identity.ts";
import type { Issue } from "../model/issue.ts";
import { hasStarted, isInstalled, stageIndexOf } from "../model/plan-status.ts";
import { type OwnershipContext, ownershipOf } from "../ownership/ownership.ts";
import type { Permission } from "../permissions/permission.ts";
import { isByNameOnly, selected, type Selected } from "./selected.ts";

export interface Transformed {
  readonly rule: Transformation;
  readonly kind: Kind;
  /** Live objects that it selects and that are no members of the plan; once the plan has started, those that it started with. */
  readonly matches: readonly Selected[];
  /** Some of those that it selects since the plan has started: they are left alone. */
  readonly late: readonly Selected[];
  /** Those that it selects and that stay because of what others have in them. */
  readonly kept: readonly Kept[];
  /** Permissions that the account lacks to read what is selected; nothing is known of it then. */
  readonly unreadable: readonly Permission[];
}

/** An object that stays although a transformation selects it. */
export interface Kept {
  readonly live: KubeObject;
  readonly protectedBy: string;
}

export interface TransformedOptions {
  readonly kinds: KindTable;
  readonly discovery: Discovery;
  readonly ctx: Context;
}

/**
 * Reads what the transformations select: before the first write, where exclusive ones act, and at the end. Read as the plan's
 * account: a selector that the operator evaluates with its own permissions would show the author what there is elsewhere.
 */
export async function readTransformed(
  plan: InstallPlan,
  content: Content,
  parts: TransformedOptions,
): Promise<readonly Transformed[]> {
  const { transformations = [] } = plan.spec;
  if (transformations.length === 0 || !isDue(plan, content)) return [];
  const members = new Set<string>(content.members.map(({ key }) => key));
  const found: Transformed[] = [];
  for (const rule of transformations) {
    const kind = kindIn(parts.kinds, rule.from);
    const location = kind === undefined ? undefined : locationOf(rule.from, plan, kind);
    if (kind === undefined || location === undefined) continue;
    found.push(await readRule({ rule, kind, location, members }, plan, parts));
    // Nothing is taken away then, so that no one has to know of more.
    if (!hasStarted(plan) && countOf(found) > matchesLimit) break;
  }
  return found;
}

/** Objects that the transformations of one plan may select in all: what is fixed at the start has to fit into a status. */
const matchesLimit = 500;

function countOf(transformed: readonly Transformed[]): number {
  return transformed.reduce((sum, { matches, kept }) => sum + matches.length + kept.length, 0);
}

/** Nothing is read for a plan that says something wrong before its first write: it stops anyhow. */
function isDue(plan: InstallPlan, { issues, unresolved }: Content): boolean {
  if (!hasStarted(plan)) return issues.length + unresolved.length === 0;
  const stageIndex = stageIndexOf(plan);
  return !isInstalled(plan) && (stageIndex === 0 || stageIndex >= plan.spec.stages.length);
}

interface RuleOptions {
  readonly rule: Transformation;
  readonly kind: Kind;
  readonly location: { readonly namespace?: string };
  /** Keys of the plan's members: they are never taken away. */
  readonly members: ReadonlySet<string>;
}

async function readRule(
  { rule, kind, location, members }: RuleOptions,
  plan: InstallPlan,
  parts: TransformedOptions,
): Promise<Transformed> {
  const client = asAccount(parts.ctx.client, plan);
  const pinned = hasStarted(plan) ? new Set(plan.status?.pinned?.deletions) : undefined;
  const objects = await unlessForbidden(
    async () => await selected(rule.from, { kind, client, location, members, ...(pinned && { pinned }) }),
  );
  if (objects === undefined)
    return { rule, kind, matches: [], kept: [], late: [], unreadable: readPermissions(rule, plan, kind) };
  const { matches, kept } = await withoutProtected(objects, plan, { rule, parts });
  const isMeant = ({ metadata }: KubeObject): boolean => pinned?.has(metadata.uid ?? "") ?? true;
  return {
    rule,
    kind,
    kept,
    matches: matches.filter(isMeant),
    late: matches.filter((object) => !isMeant(object)),
    unreadable: [],
  };
}

/** Undefined where the account may not read. */
async function unlessForbidden<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (classify(error) === "forbidden") return undefined;
    throw error;
  }
}

/** Beyond the limit nothing is deleted anyhow, so not all of them have to be read. */
async function withoutProtected(
  objects: readonly Selected[],
  plan: InstallPlan,
  { rule, parts }: { readonly rule: Transformation; readonly parts: TransformedOptions },
): Promise<Pick<Transformed, "matches" | "kept">> {
  if (!hasStarted(plan) && objects.length > rule.from.maxMatches) return { matches: objects, kept: [] };
  const { lifecycle } = plan.spec;
  const account = asAccount(parts.ctx.client, plan);
  const reasons = await inParallel(objects, 8, async (match) => {
    const identity = identityOf(match);
    // The spec of a definition says which objects it defines.
    const live = isCrd(identity) ? await definitionOf(match, plan, parts) : match;
    if (live === undefined) return "it is unknown whether others have objects of its kind";
    return await protectionOf(
      { entry: { identity, lifecycle }, live, plan, account },
      parts.ctx,
      parts.discovery,
    );
  });
  const kept = objects.flatMap((object, index) => {
    const reason = reasons[index];
    return reason === undefined ? [] : [{ live: object, protectedBy: reason }];
  });
  return { matches: objects.filter((_, index) => reasons[index] === undefined), kept };
}

/** The whole definition; undefined where the account may not get it. */
async function definitionOf(
  { metadata: { name } }: KubeObject,
  plan: InstallPlan,
  { ctx }: TransformedOptions,
): Promise<KubeObject | undefined> {
  const account = asAccount(ctx.client, plan);
  const found = await findAsAccount(account, customResourceDefinitions, { name });
  return found === "unknown" ? undefined : found;
}

/** Whether the account could read what it selects. */
export function isReadable({ unreadable }: Transformed): boolean {
  return unreadable.length === 0;
}

/** Reasons against the transformations of a plan: they take more than they may, or what no one allowed them to take. */
export function transformationIssues(
  transformed: readonly Transformed[],
  context: OwnershipContext,
): readonly Issue[] {
  const issues = transformed.flatMap((each) => issuesOf(each, context));
  if (hasStarted(context.plan) || countOf(transformed) <= matchesLimit) return issues;
  const message = `The transformations select more than ${matchesLimit} objects in total; narrow them or split the plan.`;
  return [{ reason: "InvalidTransformation", field: "spec.transformations", message }, ...issues];
}

function issuesOf({ rule, matches }: Transformed, context: OwnershipContext): readonly Issue[] {
  const field = `spec.transformations[${rule.name}].from`;
  const { maxMatches, allowUnowned } = rule.from;
  if (matches.length > maxMatches) {
    const message = `Selects more than maxMatches (${maxMatches}) objects; narrow it or raise the limit.`;
    return [{ reason: "InvalidTransformation", field, message }];
  }
  return matches.flatMap((object) => {
    const ownership = ownershipOf(object, context);
    if (ownership.kind === "inherited" || ownership.kind === "owned") return [];
    if (ownership.kind === "unowned" && allowUnowned) return [];
    const owner =
      ownership.kind === "ownedByOther"
        ? `belongs to ${ownership.owner}`
        : "was not created by a plan; allowUnowned: true deletes it";
    return [
      {
        reason: "InvalidTransformation",
        field,
        message: `${describeIdentity(identityOf(object))} ${owner}.`,
      },
    ];
  });
}

/** The permissions to read what transformations select, and to delete it. */
export function transformationPermissions(
  transformed: readonly Transformed[],
  plan: InstallPlan,
): readonly Permission[] {
  return transformed.flatMap(({ rule, kind, matches, kept }) => [
    ...readPermissions(rule, plan, kind),
    // Also for what stays: who may not delete it need not know that others have something in it.
    ...[...matches, ...kept.map(({ live }) => live)].map(({ metadata: { namespace, name } }) => ({
      verb: "delete",
      group: kind.group,
      resource: kind.plural,
      namespace,
      name,
    })),
  ]);
}

/** By name alone `get` is enough; a selector needs `list`. */
function readPermissions({ from }: Transformation, plan: InstallPlan, kind: Kind): readonly Permission[] {
  const location = { group: kind.group, resource: kind.plural, ...locationOf(from, plan, kind) };
  if (!isByNameOnly(from)) return [{ verb: "list", ...location }];
  return (from.names ?? []).map((name) => ({ verb: "get", ...location, name }));
}

/**
 * Namespace of a transformation's search. An empty namespace means the plan's own, as in manifests: to the server it would mean all
 * namespaces. A plan of scope Namespace searches nowhere else, whatever its fields say; undefined where it may not search at all.
 */
export function locationOf(
  { namespace = "" }: Pick<Transformation["from"], "namespace">,
  { metadata, spec }: InstallPlan,
  { scope }: Pick<Kind, "scope">,
): { readonly namespace?: string } | undefined {
  const home = metadata.namespace ?? "";
  const wanted = namespace === "" ? home : namespace;
  if (spec.scope === "Namespace" && (scope === "Cluster" || wanted !== home)) return undefined;
  return scope === "Cluster" ? {} : { namespace: wanted };
}
