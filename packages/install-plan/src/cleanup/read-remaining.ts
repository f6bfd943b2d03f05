import type { InstallPlan } from "@quartermaster/api";
import type { Context } from "@quartermaster/runtime";

import { asAccount } from "../account.ts";
import { inBatches } from "../in-batches.ts";
import { kindKey } from "../manifest/provided-kinds.ts";
import { type Entry, inventoryOf } from "../world/inventory.ts";
import { labelledObjects } from "../world/labelled-objects.ts";
import type { ObserverParts } from "../world/observe-plan.ts";
import { replacementOf } from "../world/replacement.ts";
import { readKindTable } from "../world/served-kinds.ts";
import { siblingsOf } from "../world/siblings.ts";
import { unanswered } from "../world/unanswered.ts";
import { deletionRank, type Remaining, turnOf, type Unread } from "./decide-deletion.ts";
import { protectionOf } from "./protection.ts";

/** What is left of a plan. */
export interface Rest {
  readonly remaining: readonly Remaining[];
  /** What may be there or not: its API does not answer, and it must not count as gone. */
  readonly unanswered: readonly Unread[];
}

/** What still has the plan's owner labels, without what a plan after it or before it names. */
export async function readRemaining(
  plan: InstallPlan,
  ctx: Context,
  parts: ObserverParts & { readonly leftBehind: ReadonlySet<string> },
): Promise<Rest> {
  const { discovery, contents, leftBehind } = parts;
  const kinds = await readKindTable(discovery, ctx.signal);
  const inventoryFor = async (owner: InstallPlan): Promise<readonly Entry[]> =>
    inventoryOf(owner, await contents.read(owner, ctx, kinds), kinds);
  const { provided } = await contents.read(plan, ctx, kinds);
  const spared = new Set<string>();
  for (const other of othersInHandover(plan, ctx))
    for (const { key } of await inventoryFor(other)) spared.add(key);
  const own = (await inventoryFor(plan))
    .filter(({ key }) => !spared.has(key))
    .map((entry) => {
      const { apiVersion, kind } = entry.identity;
      return { ...entry, isCustomResource: provided.has(kindKey(apiVersion, kind)) };
    });
  const silent = await unanswered(own, { ...parts, ctx, kinds });
  const audible = own.filter((entry) => !silent.includes(entry));
  const marked = await labelledObjects(audible, plan.metadata, { ctx, kinds });
  const remaining = marked.filter(({ live }) => !leftBehind.has(live.metadata.uid ?? ""));
  return {
    remaining: await withProtection(remaining, { plan, ctx, discovery, staying: leftBehind }),
    unanswered: silent,
  };
}

interface Question {
  readonly plan: InstallPlan;
  readonly ctx: Context;
  readonly discovery: ObserverParts["discovery"];
  readonly staying: ReadonlySet<string>;
}

/** Looking into namespaces and kinds is dear, so it is done only for those whose turn it is. */
async function withProtection(
  remaining: readonly Remaining[],
  { plan, ctx, discovery, staying }: Question,
): Promise<readonly Remaining[]> {
  const turn = turnOf(remaining);
  const account = asAccount(ctx.client, plan);
  return await inBatches(remaining, 8, async (entry) => {
    const isNext = deletionRank(entry) === turn && entry.live.metadata.deletionTimestamp === undefined;
    const protectedBy = isNext
      ? await protectionOf({ entry, live: entry.live, plan, account, staying }, ctx, discovery)
      : undefined;
    return protectedBy === undefined ? entry : { ...entry, protectedBy };
  });
}

/** In the middle of a handover: what the other plan names is no longer ours to take away. */
function othersInHandover(plan: InstallPlan, ctx: Context): readonly InstallPlan[] {
  const siblings = siblingsOf(plan, ctx);
  const { predecessors, successor } = replacementOf(plan, siblings);
  const found = siblings.planNamed(successor?.name ?? "");
  // Pending: given back after a failure, but perhaps not taken yet.
  const returning = predecessors
    .filter(({ state }) => state === "Releasing" || state === "Pending")
    .flatMap((before) => before.plan ?? []);
  const successors = found === undefined || found.metadata.uid !== successor?.uid ? [] : [found];
  return [...successors, ...returning].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}
