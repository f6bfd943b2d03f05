import type { InstallPlan, PlanPhase } from "@quartermaster/api";
import type { CleanUpEnd, Context, LogFields, Outcome, ReconcileEvent } from "@quartermaster/runtime";

import { collisionReasons } from "../model/issue.ts";
import type { PlanStatus } from "../model/plan-status.ts";

/** Reports that a plan is in another phase than before, or has failed for another reason: one event and one log line. */
export function reportPhaseChange(
  before: InstallPlan,
  { status, outcome }: CleanUpEnd,
  { events, log }: Pick<Context, "events" | "log">,
): void {
  const change = phaseChange(before.status, status ?? {}, outcome);
  if (change === undefined) return;
  events.record(change.event);
  log.info("phase changed", change.fields);
}

export interface PhaseChange {
  readonly event: ReconcileEvent;
  readonly fields: LogFields;
}

/** Undefined when nothing happened that is worth an event: the same phase, and no new reason for a bad one. */
export function phaseChange(
  before: PlanStatus | undefined,
  { phase, message = "" }: PlanStatus,
  outcome: Outcome,
): PhaseChange | undefined {
  if (phase === undefined) return undefined;
  const reason = "why" in outcome ? outcome.why.reason : phase;
  if (!isNews({ phase, reason }, before)) return undefined;
  const note = reason === phase ? message : `${reason}: ${message}`;
  const type = isBad(phase) || collisionReasons.has(reason) ? "Warning" : "Normal";
  return {
    event: { type, reason: phase, action: "ChangePhase", note: note.slice(0, noteLength) },
    fields: { phase, previousPhase: before?.phase ?? "", reason },
  };
}

interface Reported {
  readonly phase: PlanPhase;
  readonly reason: string;
}

function isNews({ phase, reason }: Reported, before: PlanStatus | undefined): boolean {
  return phase !== before?.phase || (isBad(phase) && reason !== reasonIn(before));
}

const noteLength = 1_000;

/** Phases in which a user has to act. */
function isBad(phase: PlanPhase): boolean {
  return phase === "Invalid" || phase === "Forbidden" || phase === "Failed";
}

function reasonIn(status: PlanStatus | undefined): string | undefined {
  return status?.conditions?.find(({ type }) => type === "Ready")?.reason;
}
