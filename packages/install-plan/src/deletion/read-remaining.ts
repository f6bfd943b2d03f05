import type { InstallPlan } from "@quartermaster/api";
import { classify, type Context, type Discovery, nameOfKind, type System } from "@quartermaster/runtime";

import { asAccount } from "../account/as-account.ts";
import { replacementOf } from "../handover/replacement.ts";
import { siblingsOf } from "../handover/takeover.ts";
import { inBatches } from "../in-batches.ts";
import { type Entry, inventoryOf } from "../inventory/inventory.ts";
import { labelledObjects, watchFor } from "../inventory/member-stores.ts";
import { protectionOf } from "../inventory/protection.ts";
import {
  type KindTable,
  reachableKind,
  readKindTable,
  tableKey,
  type TableKind,
} from "../manifest/kind-table.ts";
import { kindKey } from "../manifest/provided-kinds.ts";
import type { ObserverParts } from "../observe.ts";
import { deletionRank, type Remaining, turnOf, type Unread } from "./decide-deletion.ts";

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

interface Parts {
  readonly ctx: Context;
  readonly kinds: KindTable;
  readonly discovery: Discovery;
  readonly system: System;
}

/**
 * Entries of which nobody can say now whether they are there: the API behind their kind is registered and does not answer.
 * Those of a kind that is not registered at all are gone.
 */
async function unanswered<E extends Entry>(entries: readonly E[], parts: Parts): Promise<readonly E[]> {
  const answers = new Map<string, boolean>();
  const reached = new Map<string, TableKind>();
  for (const { identity } of entries) {
    const kind = reachableKind(parts.kinds, identity);
    const name = tableKey(identity.apiVersion, identity.kind);
    if (kind !== undefined) reached.set(nameOfKind(kind), kind);
    else if (!answers.has(name)) answers.set(name, await isGone(identity, parts));
  }
  const silent = await silentKinds([...reached.values()], parts);
  return entries.filter(({ identity }) => {
    const kind = reachableKind(parts.kinds, identity);
    if (kind !== undefined) return silent.has(nameOfKind(kind));
    return answers.get(tableKey(identity.apiVersion, identity.kind)) !== true;
  });
}

/** False also when it turns out to be served by now: the next look finds it. */
async function isGone(identity: Entry["identity"], { ctx, discovery }: Parts): Promise<boolean> {
  try {
    await discovery.find(identity, { signal: ctx.signal });
    return false;
  } catch (error) {
    const errorClass = classify(error);
    if (errorClass !== "notFound" && errorClass !== "transient") throw error;
    return errorClass === "notFound";
  }
}

/** So long the first picture of a kind may take before its API counts as silent. */
const answerMs = 5_000;

/** Kinds whose objects no watch shows, although discovery lists them. Those that we may not watch are another matter. */
async function silentKinds(
  kinds: readonly TableKind[],
  { ctx, discovery, system }: Parts,
): Promise<ReadonlySet<string>> {
  const watched = kinds.map((kind) => ({ kind, watch: ctx.track(watchFor(kind)) }));
  const silent = (): typeof watched =>
    watched.filter(({ watch }) => !watch.store.isSynced && !watch.isForbidden);
  if (silent().length === 0) return new Set();
  const answers = Promise.all(watched.map(async ({ watch }) => await watch.firstResponse));
  await Promise.race([answers, system.sleep(answerMs, ctx.signal)]);
  // What discovery reported may be older than the end of a version.
  if (silent().length > 0) discovery.invalidate();
  return new Set(silent().map(({ kind }) => nameOfKind(kind)));
}
