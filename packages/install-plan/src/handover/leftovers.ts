import { opensGate } from "@quartermaster/health";
import { type Context, type Discovery, inParallel, waiting } from "@quartermaster/runtime";

import { asAccount } from "../account/account.ts";
import { type Entry, inventoryOf } from "../inventory/inventory.ts";
import { labelledObjects } from "../inventory/member-stores.ts";
import { protectionOf, removals } from "../inventory/protection.ts";
import type { ContentReader } from "../manifest/content-reader.ts";
import type { KindTable } from "../manifest/kind-table.ts";
import { whyOf } from "../members/member-states.ts";
import { because, type Decision } from "../model/decision.ts";
import { hasStarted, isInstalled, isRolledBack, stageIndexOf } from "../model/plan-status.ts";
import type { PlanRef } from "../ownership/owner-labels.ts";
import type { Permission } from "../permissions/permission.ts";
import { reasons } from "../reasons.ts";
import { rollBack } from "../retry/roll-back.ts";
import type { Leftover, Seen } from "../seen.ts";
import type { Predecessor } from "./replacement.ts";

export type LeftoverOptions = Pick<Seen, "plan" | "content" | "replacement"> & {
  readonly kinds: KindTable;
  readonly contents: ContentReader;
  readonly discovery: Discovery;
  readonly ctx: Context;
};

/**
 * Objects of replaced plans that this one does not name and that still have their owner labels, the last one first. Looked for
 * before the first write, so that they are previewed and the permissions for them compared, and when the last stage is passed.
 */
export async function readLeftovers(parts: LeftoverOptions): Promise<readonly Leftover[]> {
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
async function ownObjects(parts: LeftoverOptions): Promise<readonly Leftover[]> {
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
  { contents, ctx, kinds }: LeftoverOptions,
): Promise<readonly Entry[]> {
  return plan === undefined ? [] : inventoryOf(plan, await contents.read(plan, ctx, kinds), kinds);
}

async function liveOf(
  entries: readonly Entry[],
  { name, uid = "" }: PlanRef,
  parts: LeftoverOptions,
): Promise<readonly Leftover[]> {
  const { namespace = "" } = parts.plan.metadata;
  const owner = { namespace, name, uid };
  const account = asAccount(parts.ctx.client, parts.plan);
  const owned = await labelledObjects(entries, owner, parts);
  return await inParallel(owned, 8, async ({ kind, live, ...entry }) => {
    const holder = { entry, live, plan: { metadata: owner }, account };
    const protectedBy = await protectionOf(holder, parts.ctx, parts.discovery);
    const { cleanup } = entry.lifecycle;
    return { kind, live, cleanup, protectedBy };
  });
}

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
      namespace,
      name,
    };
  });
}

/** Stages that do not wait pass before their objects are ready; the previous objects stay until they are. */
export function successorUnready(seen: Seen): Decision | undefined {
  const { plan, replacement, members } = seen;
  const isHandover = replacement.predecessors.some(({ state }) => state !== "Gone");
  if (!isHandover || plan.spec.replaces?.finishWhen === "Applied") return undefined;
  const closed = members.filter(({ state }) => !opensGate(state) && state !== "Drifted");
  if (closed.length === 0) return undefined;
  const text = closed.slice(0, 3).map((view) => whyOf(view).message);
  const failure = closed.find(({ state }) => state === "Failed");
  const retreat =
    failure === undefined
      ? undefined
      : rollBack(seen, because(reasons.resourceFailed, whyOf(failure).message));
  if (retreat !== undefined) return retreat;
  const why = because(
    reasons.finishing,
    `Waiting for all objects to be ready before the handover finishes. ${text.join(" ")}`,
  );
  const rechecks = closed.flatMap(({ health }) => health?.recheckAfterMs ?? []);
  return { phase: "Finishing", outcome: waiting(why, Math.max(1, Math.min(60_000, ...rechecks))) };
}

/** Leftovers of earlier plans are deleted only now that the new objects are ready. */
export function leftoversRemain(seen: Seen): Decision | undefined {
  const open = seen.leftovers.filter(({ live }) => live.metadata.deletionTimestamp === undefined);
  if (open.length === 0) return undefined;
  const why = because(reasons.finishing, "Deleting leftover objects of the replaced plans.");
  return {
    phase: "Finishing",
    actions: removals(open),
    outcome: waiting(why, 1_000),
  };
}
