import type { InstallPlan } from "@quartermaster/api";
import type { Client, Kind, KubeObject } from "@quartermaster/runtime";

import { describeIdentity, identityKey, identityOf } from "../identity.ts";
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
}

/** Reads what the transformations select: before the first write, where exclusive ones act, and at the end. */
export async function readTransformed(
  plan: InstallPlan,
  content: Content,
  { kinds, client }: { readonly kinds: KindTable; readonly client: Client },
): Promise<readonly Transformed[]> {
  const { transformations = [], stages } = plan.spec;
  const stageIndex = stageIndexOf(plan);
  const isDue =
    !hasStarted(plan) || (!isInstalled(plan) && (stageIndex === 0 || stageIndex >= stages.length));
  if (transformations.length === 0 || !isDue) return [];
  const members = new Set<string>(content.members.map(({ key }) => key));
  const found: Transformed[] = [];
  for (const rule of transformations) {
    const kind = kindIn(kinds, rule.from);
    if (kind === undefined) continue;
    const objects = await selected(rule, plan, { kind, client });
    const matches = objects.filter((object) => !members.has(identityKey(identityOf(object))));
    found.push({ rule, kind, matches });
  }
  return found;
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

/** The right to delete what transformations select. */
export function transformationRights(transformed: readonly Transformed[]): readonly Right[] {
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

async function selected(
  { from }: Transformation,
  { metadata }: InstallPlan,
  { kind, client }: { readonly kind: Kind; readonly client: Client },
): Promise<readonly KubeObject[]> {
  const namespace = kind.scope === "Cluster" ? undefined : (from.namespace ?? metadata.namespace ?? "");
  const place = namespace === undefined ? {} : { namespace };
  if (from.names !== undefined) {
    const found = await Promise.all(
      from.names.map(async (name) => await client.find(kind, { name, ...place })),
    );
    return found.filter((object) => object !== undefined);
  }
  const objects: KubeObject[] = [];
  const { labelSelector, fieldSelector } = from;
  const selectors = {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
  for await (const object of client.list(kind, { ...place, ...selectors })) {
    objects.push(object);
    // One more than allowed says enough.
    if (objects.length > from.maxMatches + 500) break;
  }
  return objects;
}
