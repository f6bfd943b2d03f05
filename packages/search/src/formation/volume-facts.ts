import type { KubeObject, Live } from "@quartermaster/runtime";
import type { PersistentVolumeClaim } from "@quartermaster/runtime/kinds";

import { type Distribution, distributionNames } from "../model/distribution-facts.ts";
import { quantityBytes } from "../model/quantity-units.ts";
import {
  isDataPool,
  isManagerPool,
  type NodePool,
  podNames,
  type SearchCluster,
} from "../model/search-cluster.ts";
import { ownerAnnotations, ownerLabels, releaseOf } from "../owner-labels.ts";
import type { SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import { clusterLabels } from "../workload/cluster-labels.ts";

export interface VolumeFacts {
  /** Name of the claim. */
  readonly name: string;
  readonly uid: string;
  /** Name of the node whose it is. */
  readonly node: string;
  readonly holdsManager: boolean;
  readonly holdsData: boolean;
  /** UUID of the cluster whose data is on it; undefined for one that no cluster is known to have formed on. */
  readonly engineUuid: string | undefined;
  /** How many managers that cluster had. */
  readonly managers: number | undefined;
  /** Uid of the cluster's object in its labels: that of an earlier one until it is taken over. */
  readonly ownerUid: string | undefined;
  /** Distribution and version that wrote it; undefined where the claim does not say. */
  readonly distribution: Distribution | undefined;
  readonly version: string | undefined;
  /** Requested size of the claim. */
  readonly sizeBytes: number | undefined;
  /** Actual size of the volume. */
  readonly capacityBytes: number | undefined;
}

/** Claims are named `data-<pod>`. */
const CLAIM_PREFIX = "data-";

/**
 * Reads the owner labels of a cluster's claims. Claims that are being deleted do not count, nor do those of a cluster of the same name and
 * another distribution.
 */
export function volumeFacts(
  claims: readonly Live<PersistentVolumeClaim>[],
  cluster: Pick<SearchCluster, "pools" | "distribution">,
): readonly VolumeFacts[] {
  return claims
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(
      ({ metadata }) => (distributionIn(metadata.labels) ?? cluster.distribution) === cluster.distribution,
    )
    .map((claim) => factsOf(claim, cluster))
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

function factsOf(
  { metadata, ...rest }: Live<PersistentVolumeClaim>,
  { pools }: Pick<SearchCluster, "pools">,
): VolumeFacts {
  const { annotations = {}, name, uid } = metadata;
  const owned = annotations[ownerAnnotations.holds]?.split(",");
  const pool = pools.find((each) => each.name === poolOf({ metadata }));
  const managers = Number(annotations[ownerAnnotations.managers]);
  return {
    name,
    uid,
    node: name.slice(CLAIM_PREFIX.length),
    holdsManager: owned?.includes("manager") ?? holds(pool, isManagerPool),
    holdsData: owned?.includes("data") ?? holds(pool, isDataPool),
    engineUuid: annotations[ownerAnnotations.engineUuid],
    managers: Number.isInteger(managers) && managers > 0 ? managers : undefined,
    ...labelsIn(metadata.labels),
    ...sizeOf(rest),
  };
}

function labelsIn(
  labels: Readonly<Record<string, string>> = {},
): Pick<VolumeFacts, "ownerUid" | "distribution" | "version"> {
  return {
    ownerUid: labels[ownerLabels.uid],
    distribution: distributionNames.find((each) => each === labels[ownerLabels.distribution]),
    version: labels[ownerLabels.version],
  };
}

/** The distribution that a claim belongs to. Claims from before its label have the labels that pods of the distribution are selected by. */
export function distributionIn(labels: Readonly<Record<string, string>> = {}): Distribution | undefined {
  const output = labels[ownerLabels.distribution];
  if (output !== undefined) return distributionNames.find((each) => each === output);
  return distributionNames.find((distribution) =>
    Object.keys(clusterLabels({ distribution, version: "", name: "" })).every((key) => key in labels),
  );
}

function sizeOf({
  spec,
  status,
}: Pick<PersistentVolumeClaim, "spec" | "status">): Pick<VolumeFacts, "sizeBytes" | "capacityBytes"> {
  return {
    sizeBytes: quantityBytes(spec?.resources?.requests?.["storage"]),
    capacityBytes: quantityBytes(status?.capacity?.["storage"]),
  };
}

function poolOf({ metadata }: Pick<KubeObject, "metadata">): string | undefined {
  return metadata.labels?.[ownerLabels.pool];
}

/** Of a pool that is no longer declared the volume may hold anything. */
function holds(pool: NodePool | undefined, decision: (pool: NodePool) => boolean): boolean {
  return pool === undefined || decision(pool);
}

/** Whether the volume is known to hold data of this cluster. */
export function belongsToEngine({ engineUuid }: VolumeFacts, clusterUuid: string | undefined): boolean {
  return engineUuid !== undefined && engineUuid === clusterUuid;
}

/**
 * Volumes of members that do not say yet whose data they hold. Only of members: what is on the volume of a node that has not joined is
 * not known.
 */
export function volumeAnnotations(seen: Seen): readonly SearchAction[] {
  const { cluster, volumes, engine, status } = seen;
  const { clusterUuid } = status;
  if (clusterUuid === undefined || !engine.nodes.isKnown) return [];
  const members = new Set(engine.nodes.value.map(({ name }) => name));
  const managers = cluster.pools.filter(isManagerPool).reduce((sum, { replicas }) => sum + replicas, 0);
  return cluster.pools.flatMap((pool) => {
    const contents = [...(isManagerPool(pool) ? ["manager"] : []), ...(isDataPool(pool) ? ["data"] : [])];
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
        kind: "annotateVolume" as const,
        name,
        uid,
        annotations: {
          [ownerAnnotations.engineUuid]: clusterUuid,
          [ownerAnnotations.holds]: contents.join(","),
          [ownerAnnotations.managers]: String(managers),
        },
      }));
  });
}

/**
 * Says of the claim of a removed node that nothing is on it any more: a cluster that comes back from its volumes must neither wait for
 * it nor count it among the managers.
 */
export function emptyAnnotations(
  { node, claimUid }: { readonly node: string; readonly claimUid?: string | undefined },
  { volumes, status }: Pick<Seen, "volumes" | "status">,
): readonly SearchAction[] {
  return volumes
    .filter((volume) => volume.node === node && volume.uid === claimUid)
    .filter(
      (volume) => belongsToEngine(volume, status.clusterUuid) && (volume.holdsData || volume.holdsManager),
    )
    .map(({ name, uid }) => ({
      kind: "annotateVolume" as const,
      name,
      uid,
      annotations: { [ownerAnnotations.holds]: "nothing", [ownerAnnotations.managers]: null },
    }));
}
