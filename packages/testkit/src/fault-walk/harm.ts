import type { ApiClient } from "@quartermaster/local-cluster";

import { type DisturbanceId, type Interleaved, isPrimary } from "./disturbance.ts";
import {
  contentDigest,
  mergeInto,
  otherClientAnnotation,
  otherClientFinalizer,
  type RawObject,
  readObject,
} from "./target.ts";
import type { WorkloadRun } from "./workload.ts";

/**
 * Harm that the write itself did to an object which another client changed after the operator had read it; undefined for a write without the
 * precondition against it. Takes the other client's finalizer back, which would keep the object for ever.
 */
export async function harmOfWrite(
  id: DisturbanceId,
  { api }: WorkloadRun,
  { interleaved, status }: { readonly interleaved: Interleaved; readonly status: number },
): Promise<string | undefined> {
  const { path, after, preconditions, subresource } = interleaved;
  if (after === undefined || interleaved.notApplicable !== undefined) return undefined;
  const now = await readObject(api, path);
  await takeFinalizerBack(api, path, now);
  const guard = id === "I5" ? preconditions.uid : preconditions.resourceVersion;
  if (status >= 300 || guard === undefined) return undefined;
  return changedBy(id, { now, after, subresource });
}

async function takeFinalizerBack(api: ApiClient, path: string, now: RawObject | undefined): Promise<void> {
  const finalizers = now?.metadata.finalizers ?? [];
  const others = finalizers.filter((name) => name !== otherClientFinalizer);
  if (others.length < finalizers.length) await mergeInto(api, path, { metadata: { finalizers: others } });
}

interface Change {
  readonly now: RawObject | undefined;
  readonly after: RawObject;
  readonly subresource: string | undefined;
}

/** How an object differs from what the other client left; for I1, whether its edit was lost. */
function changedBy(id: DisturbanceId, { now, after, subresource }: Change): string | undefined {
  const { name } = after.metadata;
  if (id === "I2" || id === "I3" || id === "I4-deleted") return undefined;
  if (id === "I1") return now === undefined ? undefined : lostEdit(now, after);
  if (now?.metadata.uid !== after.metadata.uid) return `the write deleted ${name} of another client`;
  if (now.metadata.deletionTimestamp !== after.metadata.deletionTimestamp)
    return `the write deleted ${name} of another client`;
  const digestOf = (object: RawObject): string =>
    JSON.stringify(
      subresource === "status"
        ? object["status"]
        : [contentDigest(object), object.metadata.finalizers?.toSorted()],
    );
  return digestOf(now) === digestOf(after) ? undefined : `the write changed ${name} of another client`;
}

function lostEdit(now: RawObject, after: RawObject): string | undefined {
  const { name, annotations, finalizers } = now.metadata;
  if (annotations?.[otherClientAnnotation] === undefined)
    return `the other client's edit of ${name} was lost`;
  const isLost =
    after.metadata.finalizers?.includes(otherClientFinalizer) === true &&
    finalizers?.includes(otherClientFinalizer) !== true;
  return isLost ? `the other client's finalizer of ${name} was lost` : undefined;
}

/** Problem with the other client's object at the end of a run; undefined when it is as that client left it. */
export async function harmDone(
  id: DisturbanceId,
  run: WorkloadRun,
  { path, verb, after }: Interleaved,
): Promise<string | undefined> {
  // The user's own steps continue with a new custom resource.
  if (after === undefined || isPrimary(run, path)) return undefined;
  const now = await readObject(run.api, path);
  const isKept =
    now?.metadata.uid === after.metadata.uid &&
    now.metadata.deletionTimestamp === after.metadata.deletionTimestamp;
  if (!isKept) return mustBeKept(id, verb) ? `${path} was deleted although it was not ours` : undefined;
  return changeOf(id, now, after);
}

function mustBeKept(id: DisturbanceId, verb: string): boolean {
  return id === "I5" || ((id === "I4-labels" || id === "I4-owners") && verb === "delete");
}

function changeOf(id: DisturbanceId, now: RawObject, after: RawObject): string | undefined {
  const { name, annotations } = now.metadata;
  if (id === "I1" && annotations?.[otherClientAnnotation] === undefined)
    return `the other client's edit of ${name} was lost`;
  const [is, was] = [contentDigest(now), contentDigest(after)];
  return id !== "I5" || is === was
    ? undefined
    : `the other client's ${name} was changed: ${is} instead of ${was}`;
}
