import { settled } from "@quartermaster/runtime";

import { isMember } from "../facts/node-facts.ts";
import type { LaneVerdict, LaneRule, SearchLane } from "../lane.ts";
import { awaitsStep, isUndone, type Operation, undoing, withdraws } from "../operation/operation.ts";
import { unknownFacts } from "../operation/refusals.ts";
import { awaitBack, restarted } from "../restart/continue-restart.ts";
import type { Seen } from "../seen.ts";

/**
 * The open operation of a cluster that is paused, or whose spec cannot be carried out: it ends what it is in the middle of, gives back
 * what it changed in the engine, and takes nothing more away. It reads nothing of the spec, which may be nonsense.
 */
const endStep: LaneRule = {
  name: "endStep",
  decide: (seen, now) => {
    const { operation } = seen.status;
    if (operation === undefined) return undefined;
    return operation.type === "Restart" ? endRestart(operation, seen, now) : endRemoval(operation, seen);
  },
};

function endRestart(operation: Operation, seen: Seen, now: Date): LaneVerdict {
  const pod = seen.pods.find(({ name }) => name === operation.node);
  if (pod?.uid === operation.podUid && !pod.isTerminating) return withdraws(seen, operation);
  const isUp = pod?.isReady === true && !pod.isTerminating && isMember(seen, operation.node);
  return (
    awaitBack(operation, { seen, isBack: isUp || !hasSlot(seen, operation) }, now) ?? restarted(operation)
  );
}

function endRemoval(operation: Operation, seen: Seen): LaneVerdict {
  if (hasSlot(seen, operation)) return withdrawsRemoval(operation, seen);
  if (seen.pods.some(({ name }) => name === operation.node)) return awaitsStep(operation, "Await");
  if (unknownFacts(seen.engine) !== undefined || isMember(seen, operation.node))
    return awaitsStep(operation, "Await");
  if (!isUndone(seen, operation))
    return awaitsStep(operation, "Release", { actions: undoing(seen, operation) });
  // What becomes of its claim is for the spec to say, once that counts again.
  return { actions: [], outcome: settled(), intent: { operation: { ...operation, step: "Release" } } };
}

/**
 * At the last step the replica may be removed already although the store still has it. Shards that came back to a node that is being
 * removed would be lost with it, so the StatefulSet is read live before anything is restored.
 */
function withdrawsRemoval(operation: Operation, seen: Seen): LaneVerdict {
  const decision = withdraws(seen, operation);
  if (operation.step !== "Shrink") return decision;
  const { pool } = operation;
  const check = { kind: "verifySlot", pool, ordinal: ordinalOf(operation) } as const;
  return { ...decision, actions: [check, ...decision.actions] };
}

function hasSlot({ statefulSets }: Seen, operation: Operation): boolean {
  return (statefulSets.get(operation.pool)?.spec.replicas ?? 0) > ordinalOf(operation);
}

function ordinalOf({ node }: Operation): number {
  return Number(node.slice(node.lastIndexOf("-") + 1));
}

/** Nodes of a cluster that is paused, or whose spec cannot be carried out. */
export const heldNodesLane: SearchLane = { name: "nodes", rules: [endStep] };
