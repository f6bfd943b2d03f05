import type { VolumeFacts } from "../formation/volume-facts.ts";
import { markedFor } from "../formation/volume-marks.ts";
import type { Operation } from "../operation/operation.ts";
import type { Seen } from "../seen.ts";

/**
 * The claim of a node that is out for good, where the author wants it deleted: of the uid that the operation recorded, with this
 * cluster's data on it, emptied before if it ever held data, and only while the health shows that nothing is missing elsewhere.
 */
export function claimToDelete(
  operation: Operation,
  seen: Pick<Seen, "cluster" | "volumes" | "status" | "engine" | "pods">,
): VolumeFacts | undefined {
  const { cluster, volumes, pods, engine } = seen;
  const pool = cluster.pools.find(({ name }) => name === operation.pool);
  if ((pool?.whenScaled ?? cluster.whenPoolRemoved) !== "Delete") return undefined;
  const isHealthy = engine.health.isKnown && engine.health.value.status !== "red";
  if (!isHealthy || pods.some(({ name }) => name === operation.node)) return undefined;
  const volume = volumes.find(({ node }) => node === operation.node);
  return volume !== undefined && isSafe(volume, operation, seen.status.clusterUuid) ? volume : undefined;
}

function isSafe(
  volume: VolumeFacts,
  { claimUid, drains = false }: Operation,
  clusterUuid: string | undefined,
): boolean {
  if (volume.uid !== claimUid || !markedFor(volume, clusterUuid)) return false;
  return drains || !volume.holdsData;
}
