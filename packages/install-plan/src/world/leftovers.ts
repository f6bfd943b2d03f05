import type { Context, Discovery } from "@quartermaster/runtime";

import { asAccount } from "../account.ts";
import { protectionOf } from "../cleanup/protection.ts";
import { inBatches } from "../in-batches.ts";
import type { PlanRef } from "../owner-labels.ts";
import type { Permission } from "../permissions/permission.ts";
import { hasStarted, isInstalled, isRolledBack, stageIndexOf } from "../progress.ts";
import type { ContentReader } from "./content-reader.ts";
import { type Entry, inventoryOf } from "./inventory.ts";
import { labelledObjects } from "./labelled-objects.ts";
import type { Predecessor } from "./replacement.ts";
import type { Leftover, Seen } from "./seen.ts";
import type { KindTable } from "./served-kinds.ts";

/** What looking for leftovers needs. */
export type LeftoverParts = Pick<Seen, "plan" | "content" | "replacement"> & {
  readonly kinds: KindTable;
  readonly contents: ContentReader;
  readonly discovery: Discovery;
  readonly ctx: Context;
};

/**
 * Objects of replaced plans that this one does not name and that still have their owner labels, the last one first. Looked for
 * before the first write, so that they are previewed and the permissions for them compared, and when the last stage is passed.
 */
export async function readLeftovers(parts: LeftoverParts): Promise<readonly Leftover[]> {
  const { plan, replacement, content } = parts;
  if (isRolledBack(plan)) return await ownObjects(parts);
  const isPassed = stageIndexOf(plan) >= plan.spec.stages.length && !isInstalled(plan);
  const isDue = !hasStarted(plan) || isPassed;
  if (!isDue) return [];
  const members = new Set<string>(content.members.map(({ key }) => key));
  const found: Leftover[] = [];
  for (const predecessor of replacement.predecessors) {
    const inventory = await predecessorInventory(predecessor, parts);
    const dropped = inventory.filter(({ key }) => !members.has(key)).toReversed();
    found.push(...(await liveOf(dropped, predecessor, parts)));
  }
  return found;
}

/** After a failed handover: what has our owner labels and no predecessor names. */
async function ownObjects(parts: LeftoverParts): Promise<readonly Leftover[]> {
  const { plan, replacement, content } = parts;
  const theirs = new Set<string>();
  for (const predecessor of replacement.predecessors)
    for (const { key } of await predecessorInventory(predecessor, parts)) theirs.add(key);
  const own = inventoryOf(plan, content, parts.kinds)
    .filter(({ key }) => !theirs.has(key))
    .toReversed();
  return await liveOf(own, plan.metadata, parts);
}

async function predecessorInventory(
  { plan }: Predecessor,
  { contents, ctx, kinds }: LeftoverParts,
): Promise<readonly Entry[]> {
  return plan === undefined ? [] : inventoryOf(plan, await contents.read(plan, ctx, kinds), kinds);
}

async function liveOf(
  entries: readonly Entry[],
  { name, uid = "" }: PlanRef,
  parts: LeftoverParts,
): Promise<readonly Leftover[]> {
  const { namespace = "" } = parts.plan.metadata;
  const owner = { namespace, name, uid };
  const account = asAccount(parts.ctx.client, parts.plan);
  const marked = await labelledObjects(entries, owner, parts);
  return await inBatches(marked, 8, async ({ kind, live, ...entry }) => {
    const holder = { entry, live, plan: { metadata: owner }, account };
    const protectedBy = await protectionOf(holder, parts.ctx, parts.discovery);
    const { cleanup } = entry.lifecycle;
    return { kind, live, cleanup, ...(protectedBy === undefined ? {} : { protectedBy }) };
  });
}

/** What of the leftovers will be deleted, not only let go. */
export function deletedOf(leftovers: readonly Leftover[]): readonly Leftover[] {
  return leftovers.filter(({ cleanup, protectedBy }) => cleanup === "Delete" && protectedBy === undefined);
}

/** The permissions to delete them, or to remove the owner labels from those that stay. */
export function leftoverPermissions(leftovers: readonly Leftover[]): readonly Permission[] {
  const deleted = new Set(deletedOf(leftovers));
  return leftovers.map((leftover) => {
    const { kind, live } = leftover;
    const { namespace, name } = live.metadata;
    return {
      verb: deleted.has(leftover) ? "delete" : "patch",
      group: kind.group,
      resource: kind.plural,
      ...(namespace === undefined ? {} : { namespace }),
      name,
    };
  });
}
