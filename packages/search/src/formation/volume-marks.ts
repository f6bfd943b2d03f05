import { markAnnotations, releaseOf } from "../marks.ts";
import { isDataPool, isManagerPool, podNames } from "../model/search-cluster.ts";
import type { SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import type { VolumeFacts } from "./volume-facts.ts";

/** Whether the volume is known to hold data of this cluster. */
export function markedFor({ engineUuid }: VolumeFacts, clusterUuid: string | undefined): boolean {
  return engineUuid !== undefined && engineUuid === clusterUuid;
}

/**
 * Volumes of members that do not say yet whose data they hold. Only of members: what is on the volume of a node that has not joined is
 * not known.
 */
export function volumeMarks(seen: Seen): readonly SearchAction[] {
  const { cluster, volumes, engine, status } = seen;
  const { clusterUuid } = status;
  if (clusterUuid === undefined || !engine.nodes.isKnown) return [];
  const members = new Set(engine.nodes.value.map(({ name }) => name));
  const managers = cluster.pools.filter(isManagerPool).reduce((sum, { replicas }) => sum + replicas, 0);
  return cluster.pools.flatMap((pool) => {
    const holds = [...(isManagerPool(pool) ? ["manager"] : []), ...(isDataPool(pool) ? ["data"] : [])];
    const nodes = new Set(podNames(cluster, pool));
    const isWrong = (volume: VolumeFacts): boolean =>
      volume.engineUuid !== clusterUuid ||
      volume.ownerUid !== cluster.uid ||
      volume.distribution !== cluster.distribution ||
      volume.version !== releaseOf(cluster.version) ||
      volume.holdsManager !== isManagerPool(pool) ||
      volume.holdsData !== isDataPool(pool) ||
      (volume.holdsManager && volume.managers !== managers);
    return volumes
      .filter(({ node }) => nodes.has(node) && members.has(node))
      .filter(isWrong)
      .map(({ name, uid }) => ({
        kind: "markVolume" as const,
        name,
        uid,
        annotations: {
          [markAnnotations.engineUuid]: clusterUuid,
          [markAnnotations.holds]: holds.join(","),
          [markAnnotations.managers]: String(managers),
        },
      }));
  });
}

/**
 * Says of the claim of a removed node that nothing is on it any more: a cluster that comes back from its volumes must neither wait for
 * it nor count it among the managers.
 */
export function emptyMarks(
  { node, claimUid }: { readonly node: string; readonly claimUid?: string | undefined },
  { volumes, status }: Pick<Seen, "volumes" | "status">,
): readonly SearchAction[] {
  return volumes
    .filter((volume) => volume.node === node && volume.uid === claimUid)
    .filter((volume) => markedFor(volume, status.clusterUuid) && (volume.holdsData || volume.holdsManager))
    .map(({ name, uid }) => ({
      kind: "markVolume" as const,
      name,
      uid,
      annotations: { [markAnnotations.holds]: "nothing", [markAnnotations.managers]: null },
    }));
}
