import { installPlan, type InstallPlan } from "@quartermaster/api";
import type { Context } from "@quartermaster/runtime";

import { kindKey } from "../manifest/provided-kinds.ts";
import { isMarkedBy } from "../marks.ts";
import { inBatches } from "../world/in-batches.ts";
import { type Entry, inventoryOf } from "../world/inventory.ts";
import { trackKinds } from "../world/member-stores.ts";
import type { ObserverParts } from "../world/observe-plan.ts";
import { replacementOf } from "../world/replacement.ts";
import { type KindTable, readKindTable, tableKey } from "../world/served-kinds.ts";
import { deletionRank, type Remaining, turnOf } from "./decide-deletion.ts";
import { protectionOf } from "./protection.ts";

/** What still bears the plan's marks, without what a plan after it or before it names. */
export async function readRemaining(
  plan: InstallPlan,
  ctx: Context,
  { discovery, contents }: ObserverParts,
): Promise<readonly Remaining[]> {
  const kinds = await readKindTable(discovery, ctx.signal);
  const inventoryFor = async (owner: InstallPlan): Promise<readonly Entry[]> =>
    inventoryOf(owner, await contents.read(owner, ctx, kinds), kinds);
  const { provided } = await contents.read(plan, ctx, kinds);
  const spared = new Set<string>();
  for (const other of othersInHandover(plan, ctx))
    for (const { key } of await inventoryFor(other)) spared.add(key);
  const marked = await markedObjects(await inventoryFor(plan), plan, { ctx, kinds });
  const remaining = marked
    .filter(({ key }) => !spared.has(key))
    .map((object) => {
      const { apiVersion, kind } = object.identity;
      return { ...object, isCustomResource: provided.has(kindKey(apiVersion, kind)) };
    });
  return await withProtection(remaining, { plan, ctx, discovery });
}

interface Question {
  readonly plan: InstallPlan;
  readonly ctx: Context;
  readonly discovery: ObserverParts["discovery"];
}

/** Looking into namespaces and kinds is dear, so it is done only for those whose turn it is. */
async function withProtection(
  remaining: readonly Remaining[],
  { plan, ctx, discovery }: Question,
): Promise<readonly Remaining[]> {
  const turn = turnOf(remaining);
  return await inBatches(remaining, 8, async (entry) => {
    const isNext = deletionRank(entry) === turn && entry.live.metadata.deletionTimestamp === undefined;
    const protectedBy = isNext
      ? await protectionOf({ entry, live: entry.live, plan }, ctx, discovery)
      : undefined;
    return protectedBy === undefined ? entry : { ...entry, protectedBy };
  });
}

/** In the middle of a handover: what the other plan names is no longer ours to take away. */
function othersInHandover(plan: InstallPlan, ctx: Context): readonly InstallPlan[] {
  const siblings = ctx
    .store(installPlan.kind)
    .list()
    .filter(({ metadata }) => metadata.namespace === plan.metadata.namespace);
  const { predecessors, successor } = replacementOf(plan, siblings);
  const returning = predecessors
    .filter(({ state }) => state === "Releasing")
    .flatMap((before) => before.plan ?? []);
  const heirs = siblings.filter(({ metadata }) => metadata.uid === successor?.uid);
  return [...heirs, ...returning].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

async function markedObjects(
  inventory: readonly Entry[],
  plan: InstallPlan,
  { ctx, kinds }: { readonly ctx: Context; readonly kinds: KindTable },
): Promise<readonly (Entry & Pick<Remaining, "kind" | "live">)[]> {
  const served = inventory.flatMap((entry) => {
    const kind = kinds.get(tableKey(entry.identity.apiVersion, entry.identity.kind));
    return kind === undefined ? [] : [{ ...entry, kind }];
  });
  const stores = await trackKinds(
    ctx,
    served.map(({ kind }) => kind),
  );
  return served.flatMap((entry) => {
    const live = stores.find(entry.kind, entry.identity);
    return live !== undefined && isMarkedBy(live, plan.metadata) ? [{ ...entry, live }] : [];
  });
}
