import type { InstallPlan } from "@quartermaster/api";
import {
  classify,
  type Client,
  type Context,
  type Discovery,
  type Kind,
  type KubeObject,
} from "@quartermaster/runtime";

import { protectionOf, staysBecause } from "../cleanup/protection.ts";
import { describeIdentity, identityKey, identityOf } from "../identity.ts";
import { inBatches } from "../in-batches.ts";
import type { Issue } from "../issue.ts";
import type { Content } from "../manifest/content.ts";
import type { Transformation } from "../manifest/transformation-faults.ts";
import type { Permission } from "../permissions/permission.ts";
import { hasStarted, isInstalled, stageIndexOf } from "../progress.ts";
import { unwatchable } from "./member-stores.ts";
import { type OwnershipContext, ownershipOf } from "./ownership.ts";
import { kindIn, type KindTable } from "./served-kinds.ts";

/** What a transformation would take away now. */
export interface Transformed {
  readonly rule: Transformation;
  readonly kind: Kind;
  /** Live objects that it selects and that are no members of the plan. */
  readonly matches: readonly KubeObject[];
  /** Those that it selects and that stay because of what others have in them, each with the reason. */
  readonly kept: readonly string[];
}

/** What reading them needs. */
export interface TransformedParts {
  readonly kinds: KindTable;
  readonly discovery: Discovery;
  readonly ctx: Context;
}

/** Reads what the transformations select: before the first write, where exclusive ones act, and at the end. */
export async function readTransformed(
  plan: InstallPlan,
  content: Content,
  parts: TransformedParts,
): Promise<readonly Transformed[]> {
  const { transformations = [], stages } = plan.spec;
  const stageIndex = stageIndexOf(plan);
  const isDue =
    !hasStarted(plan) || (!isInstalled(plan) && (stageIndex === 0 || stageIndex >= stages.length));
  if (transformations.length === 0 || !isDue) return [];
  const members = new Set<string>(content.members.map(({ key }) => key));
  const found: Transformed[] = [];
  for (const rule of transformations) {
    const kind = kindIn(parts.kinds, rule.from);
    if (kind === undefined) continue;
    const objects = await selected(rule, plan, { kind, client: parts.ctx.client }).catch(hiddenOf(kind));
    const outside = objects.filter((object) => !members.has(identityKey(identityOf(object))));
    found.push({ rule, kind, ...(await withoutProtected(outside, plan, { rule, parts })) });
  }
  return found;
}

function hiddenOf(kind: Kind): (error: unknown) => never {
  return (error) => {
    throw classify(error) === "forbidden" ? unwatchable([kind]) : error;
  };
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

/** What forbids a transformation: it takes more than it may, or what nobody allowed it to take. */
export function transformationIssues(
  { rule, matches }: Transformed,
  context: OwnershipContext,
): readonly Issue[] {
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

/** The permission to delete what transformations select. */
export function transformationPermissions(transformed: readonly Transformed[]): readonly Permission[] {
  return transformed.flatMap(({ kind, matches }) =>
    matches.map(({ metadata: { namespace, name } }) => ({
      verb: "delete",
      group: kind.group,
      resource: kind.plural,
      ...(namespace === undefined ? {} : { namespace }),
      name,
    })),
  );
}

interface Selection {
  readonly kind: Kind;
  readonly client: Client;
}

async function selected(
  { from }: Transformation,
  { metadata }: InstallPlan,
  { kind, client }: Selection,
): Promise<readonly KubeObject[]> {
  const namespace = kind.scope === "Cluster" ? undefined : (from.namespace ?? metadata.namespace ?? "");
  const place = namespace === undefined ? {} : { namespace };
  const { names, labelSelector, fieldSelector } = from;
  const isByNameOnly = labelSelector === undefined && fieldSelector === undefined;
  if (names === undefined || !isByNameOnly) return await listed(from, place, { kind, client });
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
