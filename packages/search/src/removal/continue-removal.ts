import { timestampOf, waiting } from "@quartermaster/runtime";

import {
  type DisruptionState,
  disruptionState,
  explanationOf,
  type ShardCopies,
  shardName,
  upBesides,
} from "../facts/disruption-state.ts";
import { isMember, type NodeFacts, nodeNamed } from "../facts/node-facts.ts";
import { emptyAnnotations, belongsToEngine, type VolumeFacts } from "../formation/volume-facts.ts";
import type { LaneVerdict } from "../lane.ts";
import { drainStep, isDrainStalled, shardsOn } from "../operation/drain-step.ts";
import {
  awaitsStep,
  finishes,
  intends,
  isUndone,
  type Operation,
  undoing,
  withdraws,
} from "../operation/operation.ts";
import { refusalText, removalRefusals, unknownFacts } from "../operation/refusals.ts";
import { searchReasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";
import { removalPrecheck } from "./removal-precheck.ts";

/** A drain that was given up is tried again after so long, and then after twice as long. */
const [firstRetryMs, longestRetryMs] = [10 * 60_000, 4 * 3_600_000];

/** Continues with a removal that is in the status. */
export function continueRemoval(operation: Operation, seen: Seen, now: Date): LaneVerdict {
  const state = disruptionState(seen);
  const node = nodeNamed(state.nodes, operation.node);
  if (node?.hasSlot === true) return beforeShrink(operation, { seen, state, node }, now);
  return afterShrink(operation, { seen, node });
}

interface Subject {
  readonly seen: Seen;
  readonly state: DisruptionState;
  readonly node: NodeFacts;
}

function beforeShrink(operation: Operation, subject: Subject, now: Date): LaneVerdict {
  const { seen, state, node } = subject;
  if (isSuperseded(operation, subject)) return withdraws(seen, operation);
  // What others did since may have made it impossible.
  if (removalPrecheck(node, subject).kind === "refused") return withdraws(seen, operation);
  if (isDrainStalled(operation, now)) return givesUp(operation, subject, now);
  const draining =
    operation.drains === true ? drainStep(operation, { engine: seen.engine, state, node }, now) : undefined;
  if (draining !== undefined) return draining;
  return leaveVote(operation, subject) ?? shrink(operation, subject);
}

/** Declared again, another pod than the one that was looked at, or a node that joined since: from the beginning. */
function isSuperseded(operation: Operation, subject: Subject): boolean {
  const { node } = subject;
  const isAnother = node.pod !== undefined && node.pod.uid !== operation.podUid;
  return node.isWanted || isAnother || operation.step === "Release" || hasJoinedSince(operation, subject);
}

/** It was to go without a drain, because it had never joined. Now it has, and holds what a member holds. */
function hasJoinedSince({ drains }: Operation, { seen, node }: Subject): boolean {
  return drains !== true && node.isData && node.isMember && seen.cluster.drainsBeforeRemoval;
}

/** The exclusion goes and the place in the queue is free, so that a restart which may help can run. */
function givesUp(operation: Operation, { seen, state }: Subject, now: Date): LaneVerdict {
  const attempts = (seen.status.stalledDrain?.attempts ?? 0) + 1;
  const retryMs = Math.min(longestRetryMs, firstRetryMs * 2 ** (attempts - 1));
  const left = state.copies.filter(({ heldBy }) => heldBy.has(operation.node));
  const stalledDrain = {
    node: operation.node,
    attempts,
    retryAt: timestampOf(new Date(now.getTime() + retryMs)),
    message: `${operation.node} does not become empty: ${String(operation.shardsLeft ?? left.length)} copies stay on it, among them ${left.slice(0, 3).map(shardName).join(", ")}${becauseOf(left, seen)}. It is tried again later.`,
  };
  const decision = withdraws(seen, { ...operation, step: "Release" });
  return { ...decision, intent: { ...decision.intent, stalledDrain } };
}

/** Why the first of them stays, in the engine's words. */
function becauseOf(left: readonly ShardCopies[], { engine }: Seen): string {
  const text = left.flatMap((copy) => explanationOf(copy, engine)?.text ?? []).find((each) => each !== "");
  return text === undefined ? " (see POST _cluster/allocation/explain)" : ` (${text})`;
}

function leaveVote(operation: Operation, { seen, node }: Subject): LaneVerdict | undefined {
  if (!node.isManager) return undefined;
  const { coordination } = seen.engine;
  if (!coordination.isKnown) return awaitsStep(operation, operation.step);
  const { voters, exclusions } = coordination.value;
  if (exclusions.includes(node.name) && !voters.includes(node.name)) return undefined;
  return awaitsStep(operation, "Vote", {
    actions: [{ kind: "excludeVote", node: node.name }],
  });
}

function shrink(operation: Operation, { seen, state, node }: Subject): LaneVerdict {
  const set = seen.statefulSets.get(operation.pool);
  const refusals = [
    ...removalRefusals(node, state),
    ...(mayHoldShards(operation, { seen, state, node }) ? [notEmpty(node)] : []),
  ];
  if (refusals.length > 0 || set === undefined)
    return {
      ...awaitsStep(operation, operation.step),
      ...(refusals.length === 0
        ? {}
        : {
            outcome: waiting(
              {
                reason: searchReasons.removing,
                message: `${operation.node} is not removed yet. ${refusalText(refusals)}.`,
              },
              5_000,
            ),
          }),
    };
  if (operation.step !== "Shrink") return intends({ ...operation, step: "Shrink" });
  return awaitsStep(operation, "Shrink", {
    actions: [
      {
        kind: "shrinkPool",
        operation: operation.id,
        pool: operation.pool,
        uid: set.metadata.uid,
        to: slotsBelow(node, state),
        podUid: operation.podUid,
      },
    ],
  });
}

/** Empty places right below the node go with it: nothing of them exists. */
function slotsBelow({ pool, ordinal }: NodeFacts, { nodes }: DisruptionState): number {
  const below = nodes.filter((each) => each.pool === pool && each.ordinal < ordinal);
  return Math.max(0, ...below.map((each) => each.ordinal + 1));
}

function notEmpty({ name }: NodeFacts): { readonly check: "copiesElsewhere"; readonly message: string } {
  return { check: "copiesElsewhere", message: `${name} may hold shards that are nowhere else` };
}

/** Unknown means that it may. Without a drain each of its shards needs a started copy on another node that is up. */
function mayHoldShards(operation: Operation, { seen, state, node }: Subject): boolean {
  if (!node.isData) return false;
  const left = shardsOn({ engine: seen.engine, state, node });
  if (operation.drains === true) return left !== 0;
  if (!seen.engine.shards.isKnown) return true;
  const up = upBesides(node, state.nodes);
  return state.copies.some(
    ({ heldBy, startedOn }) => heldBy.has(node.name) && ![...startedOn].some((name) => up.has(name)),
  );
}

interface Deleted {
  readonly seen: Seen;
  readonly node: NodeFacts | undefined;
}

function afterShrink(operation: Operation, { seen, node }: Deleted): LaneVerdict {
  if (node?.pod !== undefined) return awaitsStep(operation, "Await");
  const unknown = unknownFacts(seen.engine);
  if (unknown !== undefined || node?.isMember === true || isMember(seen, operation.node))
    return awaitsStep(operation, "Await");
  if (!isUndone(seen, operation))
    return awaitsStep(operation, "Release", { actions: undoing(seen, operation) });
  const claim = claimToDelete(operation, seen);
  if (claim !== undefined)
    return awaitsStep(operation, "Release", {
      actions: [
        {
          kind: "deleteClaim",
          operation: operation.id,
          node: operation.node,
          name: claim.name,
          uid: claim.uid,
        },
      ],
    });
  const ownerLabels = emptyAnnotations(operation, seen);
  if (ownerLabels.length > 0) return awaitsStep(operation, "Release", { actions: ownerLabels });
  return {
    ...finishes(operation, {
      type: "Normal",
      reason: "NodeRemoved",
      action: "RemoveNode",
      note: `${operation.node} was removed: ${operation.cause}.`,
    }),
    intent: { operation: undefined, stalledDrain: undefined },
  };
}

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
  if (volume.uid !== claimUid || !belongsToEngine(volume, clusterUuid)) return false;
  return drains || !volume.holdsData;
}
