import { digestOf, type ReconcileEvent, settled, timestampOf, waiting } from "@quartermaster/runtime";

import { allocation } from "../facts/allocation.ts";
import { awaits, type LaneVerdict } from "../lane.ts";
import { searchReasons } from "../reasons.ts";
import type { SearchAction } from "../search-action.ts";
import type { ClusterStatus, Seen } from "../seen.ts";

/** The one operation that takes a node away. It is in the status before anything is done, and removed when all is undone. */
export type Operation = NonNullable<ClusterStatus["operation"]>;

/** Time for the status to be written and read back: what follows from an intent waits for it. */
const nextReconcileMs = 20;

/** While an operation continues, samples of the engine and events of pods bring us back; this is the safety net. */
const observeAgainMs = 5_000;

export type OperationSettings = Omit<Operation, "id" | "step" | "startedAt">;

/** Declares an operation. Nothing is done yet: the next reconcile finds it in the status and begins. */
export function declareOperation(overrides: OperationSettings, now: Date): LaneVerdict {
  const startedAt = timestampOf(now);
  const id = `${overrides.type.toLowerCase()}-${digestOf({ ...overrides, startedAt }).slice(0, 12)}`;
  return intends({ ...overrides, id, startedAt, step: "Prepare" });
}

/** Changes the record, and does nothing else. */
export function intends(operation: Operation): LaneVerdict {
  const why = { reason: reasonOf(operation), message: messageOf(operation) };
  const actor = actors[operation.step];
  return { actions: [], outcome: waiting(why, nextReconcileMs), intent: { operation }, actor };
}

/** Another client acts next. The record says at which step. */
export function awaitsStep(
  operation: Operation,
  step: Operation["step"],
  { actions = [], changes = {}, trouble }: StepOptions = {},
): LaneVerdict {
  const next = { ...operation, ...changes, step };
  const actor = trouble === undefined ? actors[step] : "user";
  const message = trouble === undefined ? messageOf(next) : `${messageOf(next)} ${next.node}: ${trouble}.`;
  const decision = awaits(reasonOf(next), message, { actor, actions, retryAfterMs: observeAgainMs });
  return { ...decision, intent: { operation: next } };
}

/** How a step continues. */
export interface StepOptions {
  readonly actions?: readonly SearchAction[] | undefined;
  readonly changes?: Partial<Operation> | undefined;
  /** Why the node does not come up, as the kubelet or the scheduler say. */
  readonly trouble?: string | undefined;
}

/**
 * The end: nothing of the operation is left anywhere, which is read once more from the engine itself, because a sample may be older than
 * what we did. What follows is for the rules behind it to say.
 */
export function finishes({ node }: Pick<Operation, "node">, event?: ReconcileEvent): LaneVerdict {
  return {
    actions: [
      { kind: "verifyReleased", node },
      ...(event === undefined ? [] : [{ kind: "record" as const, event }]),
    ],
    outcome: settled(),
    intent: { operation: undefined },
  };
}

/** Undoes what the operation did to the engine, in reverse; undefined when nothing is left or when it is not known. */
export function undoing({ engine }: Pick<Seen, "engine">, operation: Operation): readonly SearchAction[] {
  return [...votesOf(engine, operation), ...allocationOf(engine)];
}

/** Whether it is known that nothing of ours is left in the engine. */
export function isUndone({ engine }: Pick<Seen, "engine">, { node }: Pick<Operation, "node">): boolean {
  return (
    engine.settings.isKnown &&
    !allocation.holdsOurs(engine.settings.value) &&
    engine.coordination.isKnown &&
    !engine.coordination.value.exclusions.includes(node)
  );
}

/** The spec no longer requests it, or something speaks against it: undone, and removed. */
export function withdraws(seen: Pick<Seen, "engine">, operation: Operation): LaneVerdict {
  if (isUndone(seen, operation)) return finishes(operation);
  return awaitsStep(operation, "Release", { actions: undoing(seen, operation) });
}

function votesOf({ coordination }: Seen["engine"], { node }: Operation): readonly SearchAction[] {
  if (!coordination.isKnown || !coordination.value.exclusions.includes(node)) return [];
  return [{ kind: "clearVotes", ours: [node] }];
}

function allocationOf({ settings }: Seen["engine"]): readonly SearchAction[] {
  return settings.isKnown && allocation.holdsOurs(settings.value) ? [{ kind: "releaseAllocation" }] : [];
}

function reasonOf({ type, step }: Operation): string {
  if (type === "Restart") return searchReasons.restarting;
  return step === "Drain" ? searchReasons.draining : searchReasons.removing;
}

/** Who is waited for most of the time of a step; a status that followed every turn of it would be written for no one. */
const actors: Readonly<Record<Operation["step"], NonNullable<LaneVerdict["actor"]>>> = {
  Prepare: "operator",
  Drain: "engine",
  Vote: "engine",
  Shrink: "kubelet",
  Await: "kubelet",
  Release: "engine",
};

const steps: Readonly<Record<Operation["step"], string>> = {
  Prepare: "it is prepared",
  Drain: "its shards are moved to other nodes",
  Vote: "its vote is given to another manager",
  Shrink: "its place is removed",
  Await: "its pod is deleted, and the operator waits until the cluster is as before",
  Release: "what was changed in the engine is undone",
};

/** The same on every reconcile of a step. */
function messageOf({ type, node, step, cause }: Operation): string {
  const verb = type === "Restart" ? "is restarted" : "is removed";
  return `${node} ${verb} (${cause}): ${steps[step]}.`;
}
