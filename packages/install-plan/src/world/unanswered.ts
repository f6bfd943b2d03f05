import { classify, type Context, type Discovery, nameOfKind, type System } from "@quartermaster/runtime";

import type { Entry } from "./inventory.ts";
import { watchFor } from "./object-view.ts";
import { type KindTable, reachableKind, tableKey, type TableKind } from "./served-kinds.ts";

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
export async function unanswered<E extends Entry>(
  entries: readonly E[],
  parts: Parts,
): Promise<readonly E[]> {
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
