import { timestampOf } from "@quartermaster/runtime";

import { allocation } from "../facts/allocation.ts";
import { type DisruptionState, disruptionState, unsettledBecause } from "../facts/disruption-state.ts";
import { type NodeFacts, nodeNamed } from "../facts/node-facts.ts";
import { quorumWithout } from "../facts/quorum-after.ts";
import type { LaneVerdict } from "../lane.ts";
import { mayDisrupt } from "../maintenance/outside-window.ts";
import { drainStep, isDrainStalled } from "../operation/drain-step.ts";
import {
  awaitsStep,
  finishes,
  isUndone,
  type Operation,
  undoing,
  withdraws,
} from "../operation/operation.ts";
import { isUnknown, restartRefusals } from "../operation/refusals.ts";
import { removeNodes } from "../removal/remove-nodes.ts";
import type { SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";

/** For so long allocation stays frozen while a pod does not come back; then its copies are rebuilt elsewhere. */
const backTimeoutMs = 5 * 60_000;

/** Continues with a restart that is in the status. The next step follows from the observed state, never from what we believe to have done. */
export function continueRestart(operation: Operation, seen: Seen, now: Date): LaneVerdict {
  const state = disruptionState(seen);
  const node = nodeNamed(state.nodes, operation.node);
  if (node?.pod?.uid === operation.podUid)
    return node.pod.isTerminating
      ? awaitsStep(operation, "Await", { changes: sinceNow(operation, now) })
      : beforeRestart(operation, { seen, state, node }, now);
  return afterRestart(operation, { seen, state, node }, now);
}

interface Subject {
  readonly seen: Seen;
  readonly state: DisruptionState;
  readonly node: NodeFacts;
}

function beforeRestart(operation: Operation, subject: Subject, now: Date): LaneVerdict {
  const { seen, state, node } = subject;
  const isGoing = !node.isWanted && removeNodes.decide(seen, now) !== undefined;
  if (!node.isOutdated || !node.hasSlot || isGoing || !mayDisrupt(seen, now))
    return withdraws(seen, operation);
  const refusals = restartRefusals(node, state, operation);
  if (isUnknown(refusals)) return awaitsStep(operation, operation.step);
  if (refusals.length > 0) return withdraws(seen, operation);
  return (
    protectShards(operation, subject, now) ??
    moveVote(operation, subject) ??
    awaitsStep(operation, operation.step, {
      actions: [
        ...unreplicated(node, state),
        { kind: "deletePod", operation: operation.id, node: node.name, uid: operation.podUid },
      ],
    })
  );
}

/** Replicas stay where they are while the node is away, or leave it before. Nodes that hold no data need neither. */
function protectShards(
  operation: Operation,
  { seen, state, node }: Subject,
  now: Date,
): LaneVerdict | undefined {
  if (!node.isData || !node.isMember) return undefined;
  if (operation.drains === true)
    return isDrainStalled(operation, now)
      ? // What does not move stays where it is: the checks of shards decide from now on.
        awaitsStep(withoutDrain(operation), "Prepare", { actions: undoing(seen, operation) })
      : drainStep(operation, { engine: seen.engine, state, node }, now);
  const { settings } = seen.engine;
  if (settings.isKnown && allocation.isFrozenBy(settings.value, operation.id)) return undefined;
  return awaitsStep(operation, "Prepare", {
    actions: [{ kind: "freezeAllocation", operation: operation.id }],
  });
}

function withoutDrain({ drains: _drains, drainedAt: _drainedAt, ...operation }: Operation): Operation {
  return operation;
}

function moveVote(operation: Operation, { state, node, seen }: Subject): LaneVerdict | undefined {
  const outcome = quorumWithout(node, state);
  if (outcome !== "survivesIfMoved") return undefined;
  // The record comes first: an exclusion that no record names would be no one's.
  if (operation.movesVote !== true) return withdraws(seen, operation);
  return awaitsStep(operation, "Vote", {
    actions: [{ kind: "excludeVote", node: node.name }],
  });
}

/** Indices without replicas are unavailable while the node is down; the user should know. */
function unreplicated({ name }: NodeFacts, { copies }: DisruptionState): readonly SearchAction[] {
  const alone = copies.filter(({ count, heldBy }) => count === 1 && heldBy.has(name));
  if (alone.length === 0) return [];
  const names = [...new Set(alone.map(({ index }) => index))];
  return [
    {
      kind: "record",
      event: {
        type: "Warning",
        reason: "UnreplicatedRestart",
        action: "RestartNode",
        note: `Indices without replicas are away while ${name} restarts: ${names.slice(0, 5).join(", ")}${names.length > 5 ? " and more" : ""}.`,
      },
    },
  ];
}

interface Deleted {
  readonly seen: Seen;
  readonly state: DisruptionState;
  /** Undefined when the node is not declared any more. */
  readonly node: NodeFacts | undefined;
}

function afterRestart(operation: Operation, { seen, state, node }: Deleted, now: Date): LaneVerdict {
  const isBack = node === undefined || node.isUp || isGivenUp(operation, node, now);
  const untilBack = awaitBack(operation, { seen, isBack }, now);
  if (untilBack !== undefined) return untilBack;
  if (unsettledBecause(state) !== undefined && !state.skipped.has("settled"))
    return awaitsStep(operation, "Await");
  return restarted(operation);
}

/** A node that no one requests any more, and that does not come back, keeps no one waiting: it may be the reason why it is to go. */
function isGivenUp({ awaitingSince = "" }: Operation, { isWanted, hasSlot }: NodeFacts, now: Date): boolean {
  const isLate = now.getTime() - Date.parse(awaitingSince) >= backTimeoutMs;
  return !hasSlot || (!isWanted && isLate);
}

/** After the pod no longer exists: until its successor is up, and what was changed for it is undone. Undefined when both are so. */
export function awaitBack(
  operation: Operation,
  { seen, isBack }: { readonly seen: Seen; readonly isBack: boolean },
  now: Date,
): LaneVerdict | undefined {
  const since = Date.parse(operation.awaitingSince ?? "");
  if (Number.isNaN(since)) return awaitsStep(operation, "Await", { changes: sinceNow(operation, now) });
  if (!isBack)
    return awaitsStep(operation, "Await", {
      actions: now.getTime() - since < backTimeoutMs ? [] : undoing(seen, operation),
      trouble: seen.pods.find(({ name }) => name === operation.node)?.trouble,
    });
  return isUndone(seen, operation)
    ? undefined
    : awaitsStep(operation, "Await", { actions: undoing(seen, operation) });
}

/** The end of a restart. */
export function restarted(operation: Operation): LaneVerdict {
  return finishes(operation, {
    type: "Normal",
    reason: "NodeRestarted",
    action: "RestartNode",
    note: `${operation.node} was restarted: ${operation.cause}.`,
  });
}

function sinceNow({ awaitingSince }: Operation, now: Date): Partial<Operation> {
  return { awaitingSince: awaitingSince ?? timestampOf(now) };
}
