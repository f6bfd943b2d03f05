import { firstTen } from "@quartermaster/api";
import { held, settled } from "@quartermaster/runtime";
import { type StatefulSet, statefulSets } from "@quartermaster/runtime/kinds";

import {
  type ClaimedPod,
  claimRecheckMs,
  claimRefusal,
  claimsLeaving,
  goingMessage,
} from "../formation/mounted-claims.ts";
import { awaits, type LaneVerdict, type LaneRule, nothingToDo, refuses, type SearchLane } from "../lane.ts";
import { mostPoolNodes, type NodePool, podNames, type SearchCluster } from "../model/search-cluster.ts";
import { labelsOf, ownerLabels, writerLabels } from "../owner-labels.ts";
import { searchReasons } from "../reasons.ts";
import { applyAction, type SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import { acceptedInputs } from "../workload/pool-inputs-hash.ts";
import { poolStatefulSet } from "../workload/pool-stateful-set.ts";
import { heldStorageMessage, withFixedFields } from "./running-storage.ts";

/** No pod before its keys are there, and none before it is decided whether it founds a cluster or joins one. */
const notYet: LaneRule = {
  name: "notYet",
  decide: ({ status, bootstrapList, material }) => {
    const isFormed = status.clusterUuid !== undefined;
    const isDecided = isFormed || (status.bootstrap?.mode !== undefined && bootstrapList !== "absent");
    const isArmed = isFormed || material.missing.length === 0;
    return isDecided && isArmed ? undefined : nothingToDo;
  },
};

/**
 * A pod must not start on data of another cluster: it could never join, or would found upon it. Pools whose claims are all right grow; as
 * long as the cluster has not formed nothing is made, because the list of its first managers counts on all of them.
 */
const foreignVolume: LaneRule = {
  name: "foreignVolume",
  decide: (seen) => {
    const blocked = blockedPools(seen);
    const [first] = blocked.values();
    if (first === undefined) return undefined;
    const pools = seen.cluster.pools.filter(({ name }) => !blocked.has(name) || seen.statefulSets.has(name));
    const isFormed = seen.status.clusterUuid !== undefined;
    const actions = isFormed
      ? poolActions({ ...seen, cluster: { ...seen.cluster, pools } }, (pool) =>
          blocked.has(pool.name) ? currentReplicas(seen, pool) : targetReplicas(seen, pool),
        )
      : [];
    if (first.isForeign)
      return { ...refuses(searchReasons.foreignVolume, first.message, claimRecheckMs), actions };
    return awaits(searchReasons.memberMissing, first.message, {
      actor: "kubelet",
      actions,
      retryAfterMs: 5_000,
    });
  },
};

interface Blocked {
  readonly isForeign: boolean;
  readonly message: string;
}

/** Pools that must not grow now, with why; foreign claims first, because they need the user. */
export function blockedPools(seen: Seen): ReadonlyMap<string, Blocked> {
  const { claims, cluster } = seen;
  const all = cluster.pools.flatMap((each): readonly (readonly [string, Blocked])[] => {
    const { name } = each;
    const own = claims.filter(({ pool }) => pool === name);
    const refusal = claimRefusal(own) ?? otherUuid(seen, newNodes(seen, each));
    if (refusal !== undefined) return [[name, { isForeign: true, message: refusal }]];
    const leaving = claimsLeaving(own);
    if (leaving.length === 0) return [];
    const message = `Nodes are added once their claims are deleted completely: ${leaving.slice(0, 10).join(", ")}.`;
    return [[name, { isForeign: false, message }]];
  });
  return new Map(all.toSorted(([, one], [, other]) => Number(other.isForeign) - Number(one.isForeign)));
}

/** Claims of ours that hold data of another engine's cluster: an earlier one of the same name. */
function otherUuid({ status, volumes }: Seen, nodes: readonly string[]): string | undefined {
  const { clusterUuid } = status;
  if (clusterUuid === undefined) return undefined;
  const foreign = volumes
    .filter(({ node }) => nodes.includes(node))
    .filter(({ engineUuid }) => engineUuid !== undefined && engineUuid !== clusterUuid);
  if (foreign.length === 0) return undefined;
  const names = foreign.map(({ name, engineUuid = "" }) => `${name} (${engineUuid})`).join(", ");
  return `Nodes are not added: their claims hold data of another cluster: ${names}. Remove the claims, or give the pool another name.`;
}

/** The license of the pool enforces its limit: the cluster keeps the size that it has room for, whatever is declared. */
const capacityExceeded: LaneRule = {
  name: "capacityExceeded",
  decide: (seen) => {
    const { grantedNodes } = seen.license;
    const declared = seen.cluster.pools.reduce((sum, { replicas }) => sum + replicas, 0);
    const grown = seen.cluster.pools.flatMap((pool) => newNodes(seen, pool));
    if (grantedNodes === undefined || declared <= grantedNodes || grown.length === 0) return undefined;
    const names = firstTen(grown);
    const message = `Nodes are not added (${names}): ${String(declared)} are declared, and the license has room for ${String(grantedNodes)}. Lower the replicas, or have the limit of the EnterpriseLicense raised.`;
    return {
      // Not stalled: the license controller may just be about to say that there is room.
      outcome: held({ reason: searchReasons.capacityExceeded, message }),
      actor: "user",
      actions: poolActions({ ...seen, cluster: { ...seen.cluster, pools: existingPools(seen) } }, (pool) =>
        currentReplicas(seen, pool),
      ),
    };
  },
};

/** Pools that have a StatefulSet already. */
function existingPools({ cluster, statefulSets: sets }: Seen): readonly NodePool[] {
  return cluster.pools.filter(({ name }) => sets.has(name));
}

const keepPools: LaneRule = {
  name: "keepPools",
  decide: (seen) => {
    const actions = poolActions(seen, (pool) => targetReplicas(seen, pool));
    const grown = seen.cluster.pools.flatMap((pool) => newNodes(seen, pool));
    const going = goingMessage(seen.claims);
    if (going !== undefined) return awaits(searchReasons.claimDeleting, going, { actor: "user", actions });
    if (grown.length === 0) return { ...keptStorage(seen), actions };
    return awaits(
      seen.status.clusterUuid === undefined ? searchReasons.bootstrapping : searchReasons.memberMissing,
      `Nodes are added: ${firstTen(grown)}.`,
      { actor: "kubelet", actions },
    );
  },
};

/** Not stalled: everything else of the pool continues. */
function keptStorage({ heldStorage }: Seen): Pick<LaneVerdict, "outcome" | "actor"> {
  if (heldStorage.length === 0) return { outcome: settled() };
  const why = { reason: searchReasons.notSupportedYet, message: heldStorageMessage(heldStorage) };
  return { outcome: held(why), actor: "user" };
}

type Slots = Pick<Seen, "cluster" | "status" | "volumes" | "statefulSets">;

function targetReplicas(seen: Slots, pool: NodePool): number {
  return Math.max(pool.replicas, currentReplicas(seen, pool), retainedReplicas(seen, pool));
}

/** Pods whose claims have to be read: those that StatefulSets make next, and those that run on a claim which our store does not show. */
export function claimedPods(seen: Slots & Pick<Seen, "pods">): readonly ClaimedPod[] {
  return seen.cluster.pools
    .filter(({ storage }) => storage.kind === "volume")
    .flatMap((each) => {
      const pool = each.name;
      const isUnknown = (node: string): boolean => seen.volumes.every((volume) => volume.node !== node);
      return [
        ...newSlots(seen, each).map((node) => ({ node, pool, isNew: true })),
        ...seen.pods
          .filter((pod) => pod.pool === pool && isUnknown(pod.name))
          .map(({ name }) => ({ node: name, pool, isNew: false })),
      ];
    });
}

/** Never a range of the places that there are: their number is whatever the StatefulSet says. */
function newSlots(seen: Slots, pool: NodePool): readonly string[] {
  const from = currentReplicas(seen, pool);
  const replicas = targetReplicas(seen, pool);
  return replicas <= from ? [] : podNames(seen.cluster, { name: pool.name, replicas }).slice(from);
}

/** Nodes that are declared and for which there is no place in the StatefulSet yet. */
function newNodes(seen: Seen, pool: NodePool): readonly string[] {
  return podNames(seen.cluster, pool).slice(currentReplicas(seen, pool));
}

function currentReplicas({ statefulSets: sets }: Pick<Seen, "statefulSets">, { name }: NodePool): number {
  return sets.get(name)?.spec.replicas ?? 0;
}

/**
 * Nodes that a cluster had before it was deleted with Retain: all of them come back, whatever is declared now. A shard may have its
 * only copy on the last one, and leaving it out would be a scale-down without any check.
 */
function retainedReplicas(
  { status, volumes, cluster, statefulSets: sets }: Slots,
  { name }: NodePool,
): number {
  // Once its StatefulSet is there, a volume without a node is that of a node that was removed.
  if (status.bootstrap?.mode !== "Recover" || sets.has(name)) return 0;
  const prefix = `${cluster.name}-${name}-`;
  const ordinals = volumes
    .filter(({ node, engineUuid }) => node.startsWith(prefix) && isOf(engineUuid, status.clusterUuid))
    .filter(({ holdsData, holdsManager }) => holdsData || holdsManager)
    .map(({ node }) => Number(node.slice(prefix.length)))
    // A claim's name is a tenant's to choose: it must not become a number of pods that no pool ever had.
    .filter((ordinal) => Number.isInteger(ordinal) && ordinal >= 0 && ordinal < mostPoolNodes);
  return Math.max(0, ...ordinals.map((ordinal) => ordinal + 1));
}

/** Whether a volume can be the cluster's: before it has formed again its UUID is that of the volumes. */
function isOf(engineUuid: string | undefined, clusterUuid: string | undefined): boolean {
  return engineUuid !== undefined && (clusterUuid === undefined || engineUuid === clusterUuid);
}

/** The StatefulSet of each pool. It never gets smaller here: removing a node is not a matter of a number. */
function poolActions(seen: Seen, replicasOf: (pool: NodePool) => number): readonly SearchAction[] {
  const { cluster, material, status } = seen;
  // While a place is taken away, its StatefulSet has one writer.
  const shrinking = status.operation?.step === "Shrink" ? status.operation.pool : undefined;
  return cluster.pools
    .filter(({ name }) => name !== shrinking)
    .map((pool) => {
      const live = seen.statefulSets.get(pool.name);
      const inputs = acceptedInputs(cluster, pool, { followed: material.podInputs, set: live });
      const set = poolStatefulSet(cluster, pool, { ...inputs, replicas: replicasOf(pool) });
      return applyAction(statefulSets, withFixedFields(withOwnerLabels(set, cluster, pool), live), cluster);
    });
}

/** Our labels on pods and claims too: they are how both are found again. */
function withOwnerLabels(set: StatefulSet, cluster: SearchCluster, { name }: NodePool): StatefulSet {
  const labels = { ...labelsOf(cluster), [ownerLabels.pool]: name };
  const { template, volumeClaimTemplates, ...spec } = set.spec;
  return {
    ...set,
    metadata: { ...set.metadata, labels: { ...set.metadata.labels, [ownerLabels.pool]: name } },
    spec: {
      ...spec,
      template: {
        ...template,
        metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...labels } },
      },
      ...(volumeClaimTemplates === undefined
        ? {}
        : {
            volumeClaimTemplates: volumeClaimTemplates.map((claim) => ({
              ...claim,
              metadata: {
                ...claim.metadata,
                labels: { ...claim.metadata.labels, ...labels, ...writerLabels(cluster) },
              },
            })),
          }),
    },
  };
}

/** One StatefulSet per pool: made, grown, kept as declared. */
export const poolsLane: SearchLane = {
  name: "pools",
  rules: [notYet, foreignVolume, capacityExceeded, keepPools],
};
