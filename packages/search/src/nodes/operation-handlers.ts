import { isDeepStrictEqual } from "node:util";

import type { Context, Kind, KubeObject, Live } from "@quartermaster/runtime";
import {
  configMaps,
  persistentVolumeClaims,
  pods,
  services,
  statefulSets,
} from "@quartermaster/runtime/kinds";

import { deleteObject } from "../deletion/delete-object.ts";
import { forOperations } from "../engine-sampling.ts";
import type { EngineClient } from "../engine/engine-client.ts";
import { EngineError } from "../engine/engine-error.ts";
import { engineSample } from "../engine/engine-sample.ts";
import { allocation } from "../facts/allocation.ts";
import { decideLane } from "../lane.ts";
import { poolNames } from "../model/cluster-names.ts";
import type { ClusterObject } from "../model/read-cluster.ts";
import { type Children, observeWorkload } from "../observe-workload.ts";
import { ownerLabels } from "../owner-labels.ts";
import type { ActionHandlers, PerformContext } from "../perform-context.ts";
import type { ActionOf, DestructiveAction, OperationAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import { nodesLane } from "./nodes-lane.ts";

type Handler<Action> = (action: Action, context: PerformContext) => Promise<void>;

/** A write to the engine's settings or votes. They are read right before: entries of others stay. */
function changesEngine<Action>(
  change: (action: Action, engine: EngineClient) => Promise<void>,
): Handler<Action> {
  return async (action, { engine, resample }) => {
    await change(action, engine());
    resample();
  };
}

/** Keeps replicas where they are. */
const freezeAllocation = changesEngine(async ({ operation }: ActionOf<"freezeAllocation">, engine) => {
  await engine.putSettings(allocation.freeze(await engine.settings(), operation));
  // What is flushed need not be replayed. A failure costs time, not data.
  await engine.flush().catch((error: unknown) => {
    if (!(error instanceof EngineError)) throw error;
  });
});

/** Moves shards off a node. */
const excludeNode = changesEngine(async ({ node }: ActionOf<"excludeNode">, engine) => {
  const changes = allocation.exclude(await engine.settings(), node);
  if (changes !== undefined) await engine.putSettings(changes);
});

/** Takes everything of ours out of the settings. */
const releaseAllocation = changesEngine(async (_action: ActionOf<"releaseAllocation">, engine) => {
  const changes = allocation.release(await engine.settings());
  if (changes !== undefined) await engine.putSettings(changes);
});

/** Gives the vote of a node to another manager. */
const excludeVote = changesEngine(async ({ node }: ActionOf<"excludeVote">, engine) => {
  await engine.excludeVotes([node]);
});

/** Lets nodes vote again. */
const clearVotes = changesEngine(async ({ ours }: ActionOf<"clearVotes">, engine) => {
  await clearExclusions(engine, ours);
});

/** Fails while something of the operation is left in the engine, and removes it. */
const verifyReleased = changesEngine(async ({ node }: ActionOf<"verifyReleased">, engine) => {
  const changes = allocation.release(await engine.settings());
  const { exclusions } = await engine.coordination();
  if (changes === undefined && !exclusions.includes(node)) return;
  if (exclusions.includes(node)) await clearExclusions(engine, [node]);
  if (changes !== undefined) await engine.putSettings(changes);
  throw new EngineError(`The operation on ${node} is not over: something of it was left in the engine.`, {
    code: "conflict",
  });
});

async function clearExclusions(engine: EngineClient, ours: readonly string[]): Promise<void> {
  const { exclusions } = await engine.coordination();
  const foreign = exclusions.filter((name) => !ours.includes(name));
  if (foreign.length > 0)
    throw new EngineError(
      `Vote exclusions of others (${foreign.join(", ")}) cannot be told from ours by the engine: remove them by DELETE _cluster/voting_config_exclusions.`,
      { code: "invalid", mayHaveActed: false },
    );
  if (exclusions.length > 0) await engine.clearVoteExclusions();
}

/** The store may be behind our own last write. */
async function verifySlot(
  { pool, ordinal }: ActionOf<"verifySlot">,
  { ctx, cluster }: PerformContext,
): Promise<void> {
  const { namespace } = cluster;
  const name = poolNames(cluster, { name: pool }).statefulSet;
  const live = await ctx.client.find(statefulSets, { namespace, name });
  if ((live?.spec.replicas ?? 0) > ordinal) return;
  throw new EngineError(`${name} has no place ${String(ordinal)} any more: its node is on its way out`, {
    code: "conflict",
    mayHaveActed: false,
  });
}

/** One write that carries what was read live, once the rules have decided it again by that. */
function onceConfirmed<Action extends DestructiveAction>(
  write: (action: Action, context: PerformContext, confirmed: Confirmed) => Promise<void>,
): Handler<Action> {
  return async (action, context) => {
    await write(action, context, await confirm(action, context));
  };
}

/** Deletes the pod of a node, which its StatefulSet makes again. */
const deletePod = onceConfirmed(async ({ uid }: ActionOf<"deletePod">, context, { children }) => {
  await deleteLive(pods, uid, { context, list: children.pods });
});

/** Deletes the claim of a node that was removed. */
const deleteClaim = onceConfirmed(async ({ uid }: ActionOf<"deleteClaim">, context, { children }) => {
  await deleteLive(persistentVolumeClaims, uid, { context, list: children.claims });
});

/** Takes the last place of a pool away. */
const shrinkPool = onceConfirmed(async ({ uid, to }: ActionOf<"shrinkPool">, { ctx }, { children }) => {
  const live = children.sets.find(({ metadata }) => metadata.uid === uid);
  if (live === undefined) return;
  const { resourceVersion } = live.metadata;
  await ctx.client.patch(statefulSets, live.metadata, {
    patch: { kind: "merge", body: { metadata: { uid, resourceVersion }, spec: { replicas: to } } },
  });
});

/** Deletes a pool without nodes. */
const deletePool = onceConfirmed(async (action: ActionOf<"deletePool">, context, { children }) => {
  await deleteParts(action, context);
  await deleteLive(statefulSets, action.uid, { context, list: children.sets });
});

async function deleteLive(
  kind: Kind,
  uid: string,
  { context, list }: { readonly context: PerformContext; readonly list: readonly Live[] },
): Promise<void> {
  const live = list.find(({ metadata }) => metadata.uid === uid);
  if (live === undefined) return;
  const { namespace, name, resourceVersion } = live.metadata;
  await deleteObject(context.ctx.client, kind, { namespace, name, uid, resourceVersion });
}

/** Objects of a pool besides its nodes; only those that the cluster controls. */
async function deleteParts(
  { service, config }: ActionOf<"deletePool">,
  { ctx, cluster: { namespace, uid: owner } }: PerformContext,
): Promise<void> {
  const parts: readonly (readonly [Kind, string])[] = [
    [services, service],
    [configMaps, config],
  ];
  for (const [kind, name] of parts) {
    const live = await ctx.client.find(kind, { namespace, name }, { isMetadataOnly: true });
    const controller = live?.metadata.ownerReferences?.find((reference) => reference.controller === true);
    if (live === undefined || controller?.uid !== owner) continue;
    const { uid, resourceVersion } = live.metadata;
    await ctx.client.delete(kind, { namespace, name }, { preconditions: { uid, resourceVersion } });
  }
}

/** How the steps of operations on nodes are carried out. */
export const operationHandlers: ActionHandlers<OperationAction["kind"]> = {
  freezeAllocation,
  excludeNode,
  releaseAllocation,
  excludeVote,
  clearVotes,
  verifyReleased,
  verifySlot,
  deletePod,
  deleteClaim,
  shrinkPool,
  deletePool,
};

/** Live reads, for the preconditions of the write. */
interface Confirmed {
  readonly children: Children;
}

/**
 * Decides once more before something is destroyed: the same rules over the same kind of value, all of it read again from the API server
 * and the engine. Only if they come to the same action is it done. A stale store, an edit in between, an engine that stopped
 * responding, a second operator: each changes the decision, and nothing is written.
 */
async function confirm(
  action: DestructiveAction,
  { seen, ctx, engine, nowMs, findCluster }: PerformContext,
): Promise<Confirmed> {
  if (seen === undefined) throw new TypeError("an operation on a cluster that is being deleted");
  const client = engine();
  const object = await findCluster();
  if (object === undefined || object.metadata.uid !== seen.cluster.uid) throw notConfirmed(action);
  if (object.metadata.deletionTimestamp !== undefined) throw notConfirmed(action);
  const children = await readChildren(object, ctx);
  const facts = await engineSample(client, { facts: new Set(forOperations), nodes: [], nowMs });
  const live: Seen = { ...seen, ...observeWorkload(object, children), engine: facts };
  if (!isDecidedAgain(action, live, new Date(nowMs()))) throw notConfirmed(action);
  return { children };
}

/** Whether the lane comes to the same action over what was read live. */
export function isDecidedAgain(action: DestructiveAction, live: Seen, now: Date): boolean {
  if (live.issues.length > 0 || live.cluster.isPaused) return false;
  return decideLane(nodesLane, live, now).actions.some((each) => isDeepStrictEqual(each, action));
}

function notConfirmed({ kind: what }: DestructiveAction): EngineError {
  return new EngineError(`${what}: what was decided does not hold any more`, {
    code: "conflict",
    mayHaveActed: false,
  });
}

async function readChildren({ metadata }: Live<ClusterObject>, { client }: Context): Promise<Children> {
  const { namespace, name } = metadata;
  const labelSelector = `${ownerLabels.cluster}=${name}`;
  const all = async <O extends KubeObject>(kind: Kind<O>): Promise<readonly Live<O>[]> =>
    await Array.fromAsync(client.list(kind, { namespace, labelSelector }));
  const [sets, podList, claims] = await Promise.all([
    all(statefulSets),
    all(pods),
    all(persistentVolumeClaims),
  ]);
  return { sets, pods: podList, claims };
}
