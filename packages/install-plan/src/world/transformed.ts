import type { InstallPlan } from "@quartermaster/api";
import {
  classify,
  type Client,
  type Context,
  type Discovery,
  type Kind,
  type KubeObject,
} from "@quartermaster/runtime";

import { asAccount } from "../account.ts";
import { protectionOf, staysBecause } from "../cleanup/protection.ts";
import { describeIdentity, identityKey, identityOf } from "../identity.ts";
import { inBatches } from "../in-batches.ts";
import type { Issue } from "../issue.ts";
import type { Content } from "../manifest/content.ts";
import type { Transformation } from "../manifest/transformation-faults.ts";
import type { Right } from "../permissions/rights.ts";
import { hasStarted, isInstalled, stageIndexOf } from "../progress.ts";
import { kindIn, type KindTable } from "./served-kinds.ts";
import { type Family, standingOf } from "./standing.ts";

/** What a transformation would take away now. */
export interface Transformed {
  readonly rule: Transformation;
  readonly kind: Kind;
  /** Live objects that it selects and that are no members of the plan. */
  readonly matches: readonly KubeObject[];
  /** Those that it selects and that stay because of what others have in them, each with the reason. */
  readonly kept: readonly string[];
  /** Permissions that the account lacks to read what is selected; nothing is known of it then. */
  readonly unreadable: readonly Right[];
}

/** What reading them needs. */
export interface TransformedParts {
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
  parts: TransformedParts,
): Promise<readonly Transformed[]> {
  const { transformations = [] } = plan.spec;
  if (transformations.length === 0 || !isDue(plan, content)) return [];
  const members = new Set<string>(content.members.map(({ key }) => key));
  const found: Transformed[] = [];
  for (const rule of transformations) {
    const kind = kindIn(parts.kinds, rule.from);
    if (kind !== undefined && placeOf(rule.from, plan, kind) !== undefined)
      found.push(await readRule({ rule, kind, members }, plan, parts));
  }
  return found;
}

/** Nothing is read for a plan that says something wrong before its first write: it stops anyhow. */
function isDue(plan: InstallPlan, { issues, unresolved }: Content): boolean {
  if (!hasStarted(plan)) return issues.length + unresolved.length === 0;
  const stageIndex = stageIndexOf(plan);
  return !isInstalled(plan) && (stageIndex === 0 || stageIndex >= plan.spec.stages.length);
}

interface RuleParts {
  readonly rule: Transformation;
  readonly kind: Kind;
  /** Keys of the plan's members: they are never taken away. */
  readonly members: ReadonlySet<string>;
}

async function readRule(
  { rule, kind, members }: RuleParts,
  plan: InstallPlan,
  parts: TransformedParts,
): Promise<Transformed> {
  const client = asAccount(parts.ctx.client, plan);
  const objects = await unlessForbidden(async () => await selected(rule, plan, { kind, client }));
  if (objects === undefined)
    return { rule, kind, matches: [], kept: [], unreadable: readingRights(rule, plan, kind) };
  const outside = objects.filter((object) => !members.has(identityKey(identityOf(object))));
  return { rule, kind, ...(await withoutProtected(outside, plan, { rule, parts })), unreadable: [] };
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

/** Beyond the limit nothing is taken away anyhow, so that nobody has to look into all of them. */
async function withoutProtected(
  objects: readonly KubeObject[],
  plan: InstallPlan,
  { rule, parts }: { readonly rule: Transformation; readonly parts: TransformedParts },
): Promise<Pick<Transformed, "matches" | "kept">> {
  if (objects.length > rule.from.maxMatches) return { matches: objects, kept: [] };
  const { lifecycle } = plan.spec;
  const reasons = await inBatches(objects, 8, async (live) => {
    const entry = { identity: identityOf(live), lifecycle };
    return await protectionOf({ entry, live, plan }, parts.ctx, parts.discovery);
  });
  const kept = objects.flatMap((object, index) => {
    const reason = reasons[index];
    return reason === undefined ? [] : [staysBecause(identityOf(object), reason)];
  });
  return { matches: objects.filter((_, index) => reasons[index] === undefined), kept };
}

/** Whether the account could read what it selects. */
export function isReadable({ unreadable }: Transformed): boolean {
  return unreadable.length === 0;
}

/** What forbids a transformation: it takes more than it may, or what nobody allowed it to take. */
export function transformationIssues({ rule, matches }: Transformed, family: Family): readonly Issue[] {
  const field = `spec.transformations[${rule.name}].from`;
  const { maxMatches, allowUnowned } = rule.from;
  if (matches.length > maxMatches) {
    const message = `Selects more than maxMatches (${maxMatches}) objects; narrow it or raise the limit.`;
    return [{ reason: "InvalidTransformation", field, message }];
  }
  return matches.flatMap((object) => {
    const standing = standingOf(object, family);
    if (standing.kind === "inherited" || standing.kind === "mine") return [];
    if (standing.kind === "unowned" && allowUnowned) return [];
    const owner =
      standing.kind === "foreign"
        ? `belongs to ${standing.owner}`
        : "was made by no plan; allowUnowned: true takes it";
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
export function transformationRights(
  transformed: readonly Transformed[],
  plan: InstallPlan,
): readonly Right[] {
  return transformed.flatMap(({ rule, kind, matches }) => [
    ...readingRights(rule, plan, kind),
    ...matches.map(({ metadata: { namespace, name } }) => ({
      verb: "delete",
      group: kind.group,
      resource: kind.plural,
      ...(namespace === undefined ? {} : { namespace }),
      name,
    })),
  ]);
}

/** By name alone `get` is enough; a selector needs `list`. */
function readingRights({ from }: Transformation, plan: InstallPlan, kind: Kind): readonly Right[] {
  const place = { group: kind.group, resource: kind.plural, ...placeOf(from, plan, kind) };
  if (!isByNameOnly(from)) return [{ verb: "list", ...place }];
  return (from.names ?? []).map((name) => ({ verb: "get", ...place, name }));
}

function isByNameOnly({ labelSelector, fieldSelector }: Transformation["from"]): boolean {
  return labelSelector === undefined && fieldSelector === undefined;
}

/**
 * Where a transformation looks. An empty namespace means the plan's own, as in manifests: to the server it would mean all
 * namespaces. A plan of scope Namespace looks nowhere else, whatever its fields say; undefined where it may not look at all.
 */
export function placeOf(
  { namespace = "" }: Pick<Transformation["from"], "namespace">,
  { metadata, spec }: InstallPlan,
  { scope }: Pick<Kind, "scope">,
): { readonly namespace?: string } | undefined {
  const home = metadata.namespace ?? "";
  const wanted = namespace === "" ? home : namespace;
  if (spec.scope === "Namespace" && (scope === "Cluster" || wanted !== home)) return undefined;
  return scope === "Cluster" ? {} : { namespace: wanted };
}

interface Selection {
  readonly kind: Kind;
  readonly client: Client;
}

async function selected(
  { from }: Transformation,
  plan: InstallPlan,
  { kind, client }: Selection,
): Promise<readonly KubeObject[]> {
  const place = placeOf(from, plan, kind);
  if (place === undefined) return [];
  const { names } = from;
  if (names === undefined || !isByNameOnly(from)) return await listed(from, place, { kind, client });
  const found = await Promise.all(names.map(async (name) => await client.find(kind, { name, ...place })));
  return found.filter((object) => object !== undefined);
}

/** What is named and selected has to be both: each narrows the other. */
async function listed(
  { names, labelSelector, fieldSelector, maxMatches }: Transformation["from"],
  place: { readonly namespace?: string },
  { kind, client }: Selection,
): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  const selectors = {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
  for await (const object of client.list(kind, { ...place, ...selectors })) {
    if (names === undefined || names.includes(object.metadata.name)) objects.push(object);
    // One more than allowed says enough.
    if (objects.length > maxMatches + 500) break;
  }
  return objects;
}
