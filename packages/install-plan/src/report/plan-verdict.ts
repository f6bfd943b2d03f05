import { type Outcome, type Rule, unreachable, type Verdict, type Why } from "@quartermaster/runtime";

import { endedJobs } from "../jobs/job-view.ts";
import { hasForgedProgress } from "../model/plan-status.ts";
import type { PlanAction } from "../plan-action.ts";
import { reasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";
import { type Change, planReport } from "./plan-report.ts";

/** A rule of plans. */
export type PlanRule = Rule<Seen, PlanAction>;
/** What a rule of plans answers. */
export type PlanVerdict = Verdict<PlanAction>;

/** What a rule decides besides what is seen. */
export interface Decision extends Change {
  readonly outcome: Outcome;
  readonly actions?: readonly PlanAction[];
  readonly inFlight?: number;
  readonly beginWithinMs?: number;
  readonly isInterim?: boolean;
}

/** A decision together with the report on everything that is seen. */
export function answer(seen: Seen, now: Date, decision: Decision): PlanVerdict {
  const { outcome, actions = [], inFlight = 1, beginWithinMs, isInterim = false, ...change } = decision;
  const ended = endedJobs(seen);
  return {
    actions: [...forgeries(seen), ...ended.actions, ...actions],
    outcome: ended.isMoreToCome ? atOnce(outcome) : outcome,
    inFlight,
    isInterim: isInterim && !ended.isMoreToCome,
    ...(beginWithinMs === undefined ? {} : { beginWithinMs }),
    ...planReport(seen, now, change),
  };
}

/** Before it can count: once the plan is approved nobody could tell it from the real one. */
function forgeries({ plan }: Seen): readonly PlanAction[] {
  return hasForgedProgress(plan) ? [{ kind: "dropProgress" }] : [];
}

function atOnce(outcome: Outcome): Outcome {
  switch (outcome.kind) {
    case "settled":
      return { ...outcome, recheckAfterMs: atOnceMs };
    case "waiting":
    case "stalled":
      return { ...outcome, retryAfterMs: atOnceMs };
    case "held":
      return outcome;
    default:
      return unreachable(outcome);
  }
}

/** A reason with its sentence. */
export function because(reason: string, message: string): Why {
  return { reason, message: message.slice(0, 1024) };
}

/** The same words from when a stage is begun until its writes are done: each change of a large plan's status is dear. */
export function appliesStage(name: string): Why {
  return because(reasons.applying, `Applying stage ${name}.`);
}

/** Comes back at once: what was decided now is to be seen by the next reconcile. */
export const atOnceMs = 0;
