import { type Kind, type Live, unreachable } from "@quartermaster/runtime";
import {
  configMaps,
  persistentVolumeClaims,
  pods,
  services,
  statefulSets,
} from "@quartermaster/runtime/kinds";

import { deleteObject } from "../deletion/delete-object.ts";
import type { EngineClient } from "../engine/engine-client.ts";
import { EngineError } from "../engine/engine-error.ts";
import type { DestructiveAction, OperationAction, SearchAction } from "../search-action.ts";
import type { Subject } from "../subject.ts";
import { poolNames } from "../workload/cluster-names.ts";
import { allocation } from "./allocation.ts";
import { confirm, type Confirmed } from "./confirm.ts";

const operationActions: ReadonlySet<string> = new Set<OperationAction["do"]>([
  "freezeAllocation",
  "excludeNode",
  "releaseAllocation",
  "excludeVote",
  "clearVotes",
  "verifyReleased",
  "verifyPlace",
  "deletePod",
  "shrinkPool",
  "deleteClaim",
  "deletePool",
]);

/** Whether an action is a step of an operation. */
export function isOperationAction(action: SearchAction): action is OperationAction {
  return operationActions.has(action.do);
}

/** Carries out one step of an operation. */
export async function performOperation(action: OperationAction, subject: Subject): Promise<void> {
  switch (action.do) {
    case "freezeAllocation":
    case "excludeNode":
    case "releaseAllocation":
    case "excludeVote":
    case "clearVotes":
    case "verifyReleased":
      await changeEngine(action, subject);
      subject.lookAgain();
      return;
    case "verifyPlace":
      await verifyPlace(action, subject);
      return;
    case "deletePod":
    case "shrinkPool":
    case "deleteClaim":
    case "deletePool":
      await destroy(action, subject);
      return;
    default:
      unreachable(action);
  }
}

type EngineAction = Exclude<OperationAction, DestructiveAction | PlaceCheck>;
type PlaceCheck = Extract<OperationAction, { readonly do: "verifyPlace" }>;

/** The store may be behind our own last write. */
async function verifyPlace({ pool, ordinal }: PlaceCheck, { ctx, cluster }: Subject): Promise<void> {
  const { namespace } = cluster;
  const name = poolNames(cluster, { name: pool }).statefulSet;
  const live = await ctx.client.find(statefulSets, { namespace, name });
  if ((live?.spec.replicas ?? 0) > ordinal) return;
  throw new EngineError(`${name} has no place ${String(ordinal)} any more: its node is on its way out`, {
    code: "conflict",
    mayHaveActed: false,
  });
}

/** Settings are read right before they are written: entries of others stay. */
async function changeEngine(action: EngineAction, subject: Subject): Promise<void> {
  const engine = subject.engine();
  switch (action.do) {
    case "freezeAllocation":
      await engine.putSettings(allocation.freeze(await engine.settings(), action.operation));
      // What is flushed need not be replayed. A failure costs time, not data.
      await engine.flush().catch((error: unknown) => {
        if (!(error instanceof EngineError)) throw error;
      });
      return;
    case "excludeNode": {
      const changes = allocation.exclude(await engine.settings(), action.node);
      if (changes !== undefined) await engine.putSettings(changes);
      return;
    }
    case "releaseAllocation": {
      const changes = allocation.release(await engine.settings());
      if (changes !== undefined) await engine.putSettings(changes);
      return;
    }
    case "excludeVote":
      await engine.excludeVotes([action.node]);
      return;
    case "clearVotes":
      await clearVotes(engine, action.ours);
      return;
    case "verifyReleased":
      await verifyReleased(engine, action.node);
      return;
    default:
      unreachable(action);
  }
}

async function clearVotes(engine: EngineClient, ours: readonly string[]): Promise<void> {
  const { exclusions } = await engine.coordination();
  const foreign = exclusions.filter((name) => !ours.includes(name));
  if (foreign.length > 0)
    throw new EngineError(
      `Vote exclusions of others (${foreign.join(", ")}) cannot be told from ours by the engine: remove them by DELETE _cluster/voting_config_exclusions.`,
      { code: "invalid", mayHaveActed: false },
    );
  if (exclusions.length > 0) await engine.clearVoteExclusions();
}

async function verifyReleased(engine: EngineClient, node: string): Promise<void> {
  const changes = allocation.release(await engine.settings());
  const { exclusions } = await engine.coordination();
  if (changes === undefined && !exclusions.includes(node)) return;
  if (exclusions.includes(node)) await clearVotes(engine, [node]);
  if (changes !== undefined) await engine.putSettings(changes);
  throw new EngineError(`The operation on ${node} is not over: something of it was left in the engine.`, {
    code: "conflict",
  });
}

/** Decided once more on live reads; then one write that carries what was read. */
async function destroy(action: DestructiveAction, subject: Subject): Promise<void> {
  const { seen, ctx, nowMs, findCluster } = subject;
  if (seen === undefined) throw new TypeError("an operation on a cluster that is being deleted");
  const confirmed = await confirm(action, seen, {
    ctx,
    nowMs,
    findCluster,
    engine: subject.engine(),
  });
  switch (action.do) {
    case "deletePod":
      await deleteLive(pods, action.uid, { subject, list: confirmed.children.pods });
      return;
    case "deleteClaim":
      await deleteLive(persistentVolumeClaims, action.uid, { subject, list: confirmed.children.claims });
      return;
    case "shrinkPool":
      await shrinkLive(action, subject, confirmed);
      return;
    case "deletePool":
      await deleteParts(action, subject);
      await deleteLive(statefulSets, action.uid, { subject, list: confirmed.children.sets });
      return;
    default:
      unreachable(action);
  }
}

async function deleteLive(
  kind: Kind,
  uid: string,
  { subject, list }: { readonly subject: Subject; readonly list: readonly Live[] },
): Promise<void> {
  const live = list.find(({ metadata }) => metadata.uid === uid);
  if (live === undefined) return;
  const { namespace, name, resourceVersion } = live.metadata;
  await deleteObject(subject.ctx.client, kind, { namespace, name, uid, resourceVersion });
}

async function shrinkLive(
  { uid, to }: Extract<DestructiveAction, { readonly do: "shrinkPool" }>,
  { ctx }: Subject,
  { children }: Confirmed,
): Promise<void> {
  const live = children.sets.find(({ metadata }) => metadata.uid === uid);
  if (live === undefined) return;
  const { namespace, name, resourceVersion } = live.metadata;
  await ctx.client.patch(
    statefulSets,
    { name, ...(namespace === undefined ? {} : { namespace }) },
    { patch: { kind: "merge", body: { metadata: { uid, resourceVersion }, spec: { replicas: to } } } },
  );
}

/** What a pool had besides its nodes; only objects that the cluster controls. */
async function deleteParts(
  { service, config }: Extract<DestructiveAction, { readonly do: "deletePool" }>,
  { ctx, cluster: { namespace, uid: owner } }: Subject,
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
