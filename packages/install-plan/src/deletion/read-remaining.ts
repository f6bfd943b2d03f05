import type { InstallPlan } from "@quartermaster/api";
import { classify, type Context, type Discovery, inParallel, nameOfKind } from "@quartermaster/runtime";

import { asAccount } from "../account/account.ts";
import { authorizedReplacement, siblingsOf } from "../handover/takeover.ts";
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
import type { ObserverOptions } from "../observe.ts";
import type { PlanMemory } from "../plan-memory.ts";
import type { DeletionSeen, Remaining } from "./deletion-seen.ts";
import { deletionRank, turnOf } from "./deletion-turn.ts";

/** The rest of a plan. */
type Rest = Pick<DeletionSeen, "remaining" | "unconfirmed" | "isPending">;

export interface RemainingOptions extends ObserverOptions {
  readonly memory: PlanMemory;
  readonly nowMs: number;
  /** Uids of objects that stay although they have the plan's owner labels. */
  readonly leftBehind: ReadonlySet<string>;
}

/** Objects with the plan's owner labels, except those that a plan after it or before it names. */
export async function readRemaining(plan: InstallPlan, ctx: Context, parts: RemainingOptions): Promise<Rest> {
  const { discovery, contents, leftBehind, memory, nowMs } = parts;
  const kinds = await readKindTable(discovery, ctx.signal);
  const inventoryFor = async (owner: InstallPlan): Promise<readonly Entry[]> =>
    inventoryOf(owner, await contents.read(owner, ctx, kinds), kinds);
  const { provided } = await contents.read(plan, ctx, kinds);
  const spared = new Set<string>();
  for (const other of await othersInHandover(plan, ctx))
    for (const { key } of await inventoryFor(other)) spared.add(key);
  const own = (await inventoryFor(plan))
    .filter(({ key }) => !spared.has(key))
    .map((entry) => {
      const { apiVersion, kind } = entry.identity;
      return { ...entry, isCustomResource: provided.has(kindKey(apiVersion, kind)) };
    });
  const pictures = watchAll(own, { ...parts, ctx, kinds });
  if (pictures.isPending) return { remaining: [], unconfirmed: [], isPending: true };
  const silent = await unconfirmed(own, { ctx, kinds, discovery, silentKinds: pictures.silentKinds });
  const audible = own.filter((entry) => !silent.includes(entry));
  const owned = await labelledObjects(audible, plan.metadata, { ctx, kinds });
  const remaining = owned.filter(({ live }) => !leftBehind.has(live.metadata.uid ?? ""));
  return {
    remaining: await withProtection(remaining, {
      plan,
      ctx,
      discovery,
      staying: leftBehind,
      isRequested: (live) => memory.isRequested(live, nowMs),
    }),
    unconfirmed: silent,
    isPending: false,
  };
}

interface Query {
  readonly plan: InstallPlan;
  readonly ctx: Context;
  readonly discovery: ObserverOptions["discovery"];
  readonly staying: ReadonlySet<string>;
  readonly isRequested: (live: Remaining["live"]) => boolean;
}

/** Looking into namespaces and kinds is dear, so it is done only for those whose turn it is. */
async function withProtection(
  remaining: readonly Remaining[],
  { plan, ctx, discovery, staying, isRequested }: Query,
): Promise<readonly Remaining[]> {
  const turn = turnOf(remaining);
  const account = asAccount(ctx.client, plan);
  return await inParallel(remaining, 8, async (entry) => {
    const isGoing = entry.live.metadata.deletionTimestamp !== undefined || isRequested(entry.live);
    const isNext = deletionRank(entry) === turn && !isGoing;
    const protectedBy = isNext
      ? await protectionOf({ entry, live: entry.live, plan, account, staying }, ctx, discovery)
      : undefined;
    return protectedBy === undefined ? entry : { ...entry, protectedBy };
  });
}

/** In the middle of a handover: what the other plan names is no longer ours to take away. */
async function othersInHandover(plan: InstallPlan, ctx: Context): Promise<readonly InstallPlan[]> {
  const siblings = siblingsOf(plan, ctx);
  const { replacement } = await authorizedReplacement(plan, siblings, ctx);
  const { predecessors, successor } = replacement;
  const found = siblings.planNamed(successor?.name ?? "");
  // Pending: given back after a failure, but perhaps not taken yet.
  const returning = predecessors
    .filter(({ state }) => state === "Releasing" || state === "Pending")
    .flatMap((before) => before.plan ?? []);
  const successors = found === undefined || found.metadata.uid !== successor?.uid ? [] : [found];
  return [...successors, ...returning].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** So long the first picture of a kind may take before its API counts as silent. */
const responseMs = 5_000;

/**
 * Watches the kinds of the entries. Pending while a first picture may still come; after that a kind without one is silent: its
 * objects are not shown, although discovery lists them. Those that we may not watch are another matter.
 */
function watchAll(
  entries: readonly Entry[],
  {
    ctx,
    kinds,
    discovery,
    memory,
    nowMs,
  }: RemainingOptions & { readonly ctx: Context; readonly kinds: KindTable },
): { readonly isPending: boolean; readonly silentKinds: ReadonlySet<string> } {
  const reached = new Map<string, TableKind>();
  for (const { identity } of entries) {
    const kind = reachableKind(kinds, identity);
    if (kind !== undefined) reached.set(nameOfKind(kind), kind);
  }
  const silentKinds = new Set<string>();
  let isPending = false;
  for (const [name, kind] of reached) {
    const watch = ctx.track(watchFor(kind));
    const matter = `picture/${name}`;
    if (watch.store.isSynced || watch.isForbidden) memory.restart(matter);
    else if (memory.elapsedMs(matter, nowMs) < responseMs) isPending = true;
    else silentKinds.add(name);
  }
  // What discovery reported may be older than the end of a version.
  if (silentKinds.size > 0) discovery.invalidate();
  return { isPending, silentKinds };
}

interface Parts {
  readonly ctx: Context;
  readonly kinds: KindTable;
  readonly discovery: Discovery;
  readonly silentKinds: ReadonlySet<string>;
}

/**
 * Entries of which no one can say now whether they are there: the API behind their kind is registered and does not respond.
 * Those of a kind that is not registered at all no longer exist.
 */
async function unconfirmed<E extends Entry>(entries: readonly E[], parts: Parts): Promise<readonly E[]> {
  const { kinds, silentKinds } = parts;
  const responses = new Map<string, boolean>();
  for (const { identity } of entries) {
    const name = tableKey(identity.apiVersion, identity.kind);
    if (reachableKind(kinds, identity) === undefined && !responses.has(name))
      responses.set(name, await isDeleted(identity, parts));
  }
  return entries.filter(({ identity }) => {
    const kind = reachableKind(kinds, identity);
    if (kind !== undefined) return silentKinds.has(nameOfKind(kind));
    return responses.get(tableKey(identity.apiVersion, identity.kind)) !== true;
  });
}

/** False also when it is served by now: the next reconcile finds it. */
async function isDeleted(
  identity: Entry["identity"],
  { ctx, discovery }: Pick<Parts, "ctx" | "discovery">,
): Promise<boolean> {
  try {
    await discovery.find(identity, { signal: ctx.signal });
    return false;
  } catch (error) {
    const errorClass = classify(error);
    if (errorClass !== "notFound" && errorClass !== "transient") throw error;
    return errorClass === "notFound";
  }
}
