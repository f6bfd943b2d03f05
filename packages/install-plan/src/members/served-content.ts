import type { InstallPlan } from "@quartermaster/api";
import { apiVersionOf, type Context } from "@quartermaster/runtime";
import { customResourceDefinitions } from "@quartermaster/runtime/kinds";

import { establishedKinds } from "../crds/established-kinds.ts";
import { trackKinds } from "../inventory/member-stores.ts";
import type { Content } from "../manifest/content.ts";
import { kindIn, type KindTable, kindTableFor, readKindTable, tableKey } from "../manifest/kind-table.ts";
import type { Member } from "../model/member.ts";
import { hasStarted, isInstalled, stageIndexOf } from "../model/plan-status.ts";
import type { ObserverOptions } from "../observe.ts";

/** The content, judged by what the server serves now if it needs a kind that was not served at the last read. */
export async function readServedContent(
  plan: InstallPlan,
  ctx: Context,
  { discovery, contents }: Pick<ObserverOptions, "discovery" | "contents">,
): Promise<{ readonly kinds: KindTable; readonly content: Content }> {
  const known = await readKindTable(discovery, ctx.signal);
  const content = await contents.read(plan, ctx, known);
  const own = await ownKinds(content, known, ctx);
  const wanted = content.members
    .filter(isOfCurrentStages(plan))
    .map(({ identity }) => identity)
    .filter((identity) => kindIn(own, identity) === undefined);
  const served = await kindTableFor(wanted, discovery, ctx.signal);
  return {
    kinds: own.size === 0 ? served : new Map([...own, ...served]),
    content: served === known ? content : await contents.read(plan, ctx, served),
  };
}

/** Kinds of the plan's own definitions that are served although discovery does not list them yet. */
async function ownKinds({ provided }: Content, known: KindTable, ctx: Context): Promise<KindTable> {
  const isKnown = [...provided.values()].every((kind) => kindIn(known, kind) !== undefined);
  if (isKnown) return new Map();
  const stores = await trackKinds(ctx, [customResourceDefinitions]);
  const found = stores.list(customResourceDefinitions).flatMap(establishedKinds);
  return new Map(
    found.map(({ kind, hasStatus }) => [tableKey(apiVersionOf(kind), kind.kind), { ...kind, hasStatus }]),
  );
}

/**
 * While stages are carried out, objects of later ones decide nothing yet, and the server may take seconds to let a kind be
 * watched that an earlier stage has just brought.
 */
export function isOfCurrentStages(plan: InstallPlan): (member: Member) => boolean {
  const last = hasStarted(plan) && !isInstalled(plan) ? stageIndexOf(plan) : Number.POSITIVE_INFINITY;
  return ({ stageIndex }) => stageIndex <= last;
}
