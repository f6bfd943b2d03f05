import { isDeepStrictEqual } from "node:util";

import { type ReconcileEvent, settled, stalled, waiting, type Why } from "@quartermaster/runtime";

import { awaits, type LaneVerdict, type LaneRule, nothingToDo, type SearchLane } from "../lane.ts";
import type { SearchAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import type { EntryPlan } from "./decide-entries.ts";

/** Entries of one kind that a spec declares and the engine has, e.g. snapshot repositories. */
export interface DeclaredEntries {
  /** Name of the lane, which is that of its record in the status. */
  readonly lane: "repositories" | "clusterSettings";
  /** Name of the rule that writes, which is that of its action. */
  readonly rule: "keepRepositories" | "keepSettings";
  /** Reason while something is still to be done. */
  readonly pendingReason: string;
  /** Message until the engine's entries are known. */
  readonly unknownMessage: string;
  /** Message while entries are written. */
  readonly pendingMessage: (seen: Seen) => string;
  /** Whether the engine has to be queried, because not everything is recorded as done. */
  readonly isPending: (seen: Seen) => boolean;
  /** Undefined while the engine's entries are not known. */
  readonly plan: (seen: Seen) => EntryPlan | undefined;
  /** A conflict that only the user can resolve; undefined where there is none. */
  readonly conflict: (seen: Seen, plan: EntryPlan) => Why | undefined;
  /** The write that the plan comes to; undefined where it comes to none. */
  readonly action: (plan: EntryPlan) => SearchAction | undefined;
  /** The event about an entry that another client has changed: it stays. */
  readonly left: (name: string) => Pick<ReconcileEvent, "reason" | "action" | "note">;
}

/** Time for the record to be written and read back; and for the engine to be sampled after a write. */
const [nextReconcileMs, nextSampleMs] = [20, 1_000];

/** A user has to resolve a conflict in the engine, which wakes no reconcile. */
const conflictRecheckMs = 60_000;

/** The lane of entries of one kind: recorded in the status, then written; dropped only if ours. */
export function entriesLane(entries: DeclaredEntries): SearchLane {
  const asDeclared: LaneRule = {
    name: "asDeclared",
    decide: (seen) => (entries.isPending(seen) || isDrifted(entries, seen) ? undefined : nothingToDo),
  };
  /** A failed or missing read means that nothing is done. */
  const awaitRead: LaneRule = {
    name: "awaitRead",
    decide: (seen) =>
      entries.plan(seen) === undefined
        ? awaits(entries.pendingReason, entries.unknownMessage, { actor: "engine" })
        : undefined,
  };
  const keepEntries: LaneRule = {
    name: entries.rule,
    decide: (seen) => {
      const plan = entries.plan(seen);
      return plan === undefined ? undefined : kept(entries, seen, plan);
    },
  };
  return { name: entries.lane, rules: [asDeclared, awaitRead, keepEntries] };
}

/** All was done, and a list of the engine's entries shows that another client has changed or deleted one since. */
function isDrifted(entries: DeclaredEntries, seen: Seen): boolean {
  const { cluster, status } = seen;
  const plan = status.clusterUuid === undefined || cluster.isPaused ? undefined : entries.plan(seen);
  if (plan === undefined) return false;
  const isAsRecorded = isDeepStrictEqual(seen.status[entries.lane] ?? [], plan.after);
  return !isAsRecorded || entries.action(plan) !== undefined || entries.conflict(seen, plan) !== undefined;
}

function kept(entries: DeclaredEntries, seen: Seen, plan: EntryPlan): LaneVerdict {
  const { left, before, after } = plan;
  const restored = entries.isPending(seen) ? [] : plan.put;
  const action = entries.action(plan);
  const isMoving = action !== undefined || !isDeepStrictEqual(seen.status[entries.lane] ?? [], after);
  return {
    actions: [
      ...(action === undefined ? [] : [action]),
      ...(restored.length === 0 ? [] : [restoredEvent(entries, restored)]),
      ...left.map((name): SearchAction => ({
        kind: "record",
        event: { type: "Warning", ...entries.left(name) },
      })),
    ],
    intent: { [entries.lane]: [...after] },
    intentIfFailed: { [entries.lane]: [...before] },
    ...(isMoving ? moving(entries, seen, action) : resting(entries.conflict(seen, plan))),
  };
}

function restoredEvent({ lane }: DeclaredEntries, names: readonly string[]): SearchAction {
  const what = lane === "repositories" ? "Snapshot repositories" : "Settings of the engine";
  return {
    kind: "record",
    event: {
      type: "Warning",
      reason: "EngineDrift",
      action: "RestoreEntries",
      note: `${what} that another client changed or deleted are written again: ${names.slice(0, 10).join(", ")}.`,
    },
  };
}

function moving(
  { pendingReason, pendingMessage }: DeclaredEntries,
  seen: Seen,
  action: SearchAction | undefined,
): Pick<LaneVerdict, "outcome" | "actor"> {
  const why = { reason: pendingReason, message: pendingMessage(seen) };
  return { outcome: waiting(why, action === undefined ? nextReconcileMs : nextSampleMs), actor: "operator" };
}

function resting(conflict: Why | undefined): Pick<LaneVerdict, "outcome" | "actor"> {
  if (conflict === undefined) return { outcome: settled() };
  return { outcome: stalled(conflict, conflictRecheckMs), actor: "user" };
}
