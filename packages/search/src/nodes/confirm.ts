import { isDeepStrictEqual } from "node:util";

import type { Context, Kind, KubeObject, Live } from "@quartermaster/runtime";
import { persistentVolumeClaims, pods, statefulSets } from "@quartermaster/runtime/kinds";

import { forOperations } from "../engine-sampling.ts";
import { EngineError } from "../engine/engine-error.ts";
import { engineSample } from "../engine/engine-sample.ts";
import { decideLane } from "../lane.ts";
import { markLabels } from "../marks.ts";
import type { ClusterObject } from "../model/read-cluster.ts";
import { type Children, observeWorkload } from "../observe-workload.ts";
import type { PerformContext } from "../perform-context.ts";
import type { DestructiveAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import { nodesLane } from "./nodes-lane.ts";

/** What was read live, for the preconditions of the write. */
export interface Confirmed {
  readonly children: Children;
}

/**
 * Decides once more before something is destroyed: the same rules over the same kind of value, all of it read anew from the API server
 * and the engine. Only if they come to the same action is it done. A stale store, an edit in between, an engine that stopped
 * answering, a second operator: each changes the decision, and nothing is written.
 */
export async function confirm(
  action: DestructiveAction,
  { seen, ctx, engine, nowMs, findCluster }: PerformContext,
): Promise<Confirmed> {
  if (seen === undefined) throw new TypeError("an operation on a cluster that is being deleted");
  const client = engine();
  const object = await findCluster();
  if (object === undefined || object.metadata.uid !== seen.cluster.uid) throw notConfirmed(action);
  if (object.metadata.deletionTimestamp !== undefined) throw notConfirmed(action);
  const children = await readChildren(object, ctx);
  const facts = await engineSample(client, { asks: new Set(forOperations), nodes: [], nowMs });
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
  const labelSelector = `${markLabels.cluster}=${name}`;
  const all = async <O extends KubeObject>(kind: Kind<O>): Promise<readonly Live<O>[]> =>
    await Array.fromAsync(client.list(kind, { namespace, labelSelector }));
  const [sets, podList, claims] = await Promise.all([
    all(statefulSets),
    all(pods),
    all(persistentVolumeClaims),
  ]);
  return { sets, pods: podList, claims };
}
