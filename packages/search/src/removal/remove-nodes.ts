import { disruptionState } from "../facts/disruption-state.ts";
import type { NodeFacts } from "../facts/node-facts.ts";
import { belongsToEngine } from "../formation/volume-facts.ts";
import { awaits, type LaneRule, refuses } from "../lane.ts";
import { poolNames } from "../model/cluster-names.ts";
import { declareOperation, type OperationSettings } from "../operation/operation.ts";
import { searchReasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";
import { removalPrecheck } from "./removal-precheck.ts";

/** The node that goes next: of all that are not declared any more, one at a time in the whole cluster, the highest ordinal of its pool. */
function surplusNode(nodes: readonly NodeFacts[]): NodeFacts | undefined {
  const surplus = nodes.filter(({ isWanted, hasSlot }) => !isWanted && hasSlot);
  return surplus.toSorted(
    (one, other) => one.pool.localeCompare(other.pool) || other.ordinal - one.ordinal,
  )[0];
}

/** Removes a node that the spec no longer requests, if the rest can do without it. Otherwise `removalRefused` reports it. */
export const removeNodes: LaneRule = {
  name: "removeNodes",
  decide: (seen, now) => {
    const state = disruptionState(seen);
    const node = surplusNode(state.nodes);
    if (node === undefined || isPutOff(seen, now)) return undefined;
    const precheck = removalPrecheck(node, { seen, state });
    if (precheck.kind === "unknown")
      return awaits(searchReasons.removing, `${precheck.message}.`, {
        actor: "engine",
        retryAfterMs: 10_000,
      });
    return precheck.kind === "refused" ? undefined : declareOperation(removalOf(node, seen), now);
  },
};

function removalOf(node: NodeFacts, seen: Seen): OperationSettings {
  const claim = seen.volumes.find((volume) => volume.node === node.name);
  const drains = node.isData && seen.cluster.drainsBeforeRemoval && mayHoldData(node, seen);
  return {
    type: "Remove",
    pool: node.pool,
    node: node.name,
    podUid: node.pod?.uid ?? "",
    cause: isScaled(node, seen) ? "auto-scaling" : "the spec no longer requests it",
    ...(claim === undefined ? {} : { claimUid: claim.uid }),
    ...(drains ? { drains } : {}),
    ...(node.isManager ? { movesVote: true } : {}),
  };
}

function isScaled({ pool }: NodeFacts, { cluster }: Seen): boolean {
  return cluster.pools.some(({ name, autoscaling }) => name === pool && autoscaling?.mode === "Auto");
}

/**
 * A node that never was a member holds nothing of the cluster's. Its volume says whether it was. Data in an emptyDir has no such label:
 * once the pod was started, it may be there, also while the node is down.
 */
function mayHoldData({ name, isMember, isEphemeral, pod }: NodeFacts, { volumes, status }: Seen): boolean {
  if (isMember) return true;
  if (isEphemeral) return pod?.isPending === false;
  const volume = volumes.find(({ node }) => node === name);
  return volume !== undefined && belongsToEngine(volume, status.clusterUuid);
}

function isPutOff({ status: { stalledDrain } }: Seen, now: Date): boolean {
  return stalledDrain !== undefined && now.getTime() < Date.parse(stalledDrain.retryAt);
}

/** How full disks are changes with every sample, and does not bring a cluster back. */
const refusedRecheckMs = 60_000;

/** The last word of the lane: nodes stay although no one wants them, and why. */
export const removalRefused: LaneRule = {
  name: "removalRefused",
  decide: (seen, now) => {
    const state = disruptionState(seen);
    const node = surplusNode(state.nodes);
    if (node === undefined) return undefined;
    const { stalledDrain } = seen.status;
    if (stalledDrain !== undefined && isPutOff(seen, now))
      return awaits(searchReasons.drainStalled, stalledDrain.message, {
        actor: "user",
        retryAfterMs: Math.max(1_000, Date.parse(stalledDrain.retryAt) - now.getTime()),
      });
    const precheck = removalPrecheck(node, { seen, state });
    if (precheck.kind !== "refused") return undefined;
    const message = `${node.name} is not removed: ${precheck.message}.`;
    return refuses(searchReasons.scaleDownRefused, message, refusedRecheckMs);
  },
};

/** The StatefulSet of a pool that is not declared any more and has no node left. */
export const removePools: LaneRule = {
  name: "removePools",
  decide: (seen) => {
    const declared = new Set(seen.cluster.pools.map(({ name }) => name));
    const empty = [...seen.statefulSets].find(
      ([name, { spec }]) =>
        !declared.has(name) && spec.replicas === 0 && !seen.pods.some((pod) => pod.pool === name),
    );
    if (empty === undefined) return undefined;
    const [pool, { metadata }] = empty;
    const note = `Pool ${pool} was removed.`;
    return awaits(searchReasons.removing, `Pool ${pool} has no node left and is removed.`, {
      actor: "operator",
      actions: [
        { kind: "deletePool", pool, uid: metadata.uid, ...poolNames(seen.cluster, { name: pool }) },
        { kind: "record", event: { type: "Normal", reason: "PoolRemoved", action: "RemovePool", note } },
      ],
      retryAfterMs: 1_000,
    });
  },
};
