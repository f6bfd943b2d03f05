import type { Outcome, Rule, Verdict, Why } from "@quartermaster/runtime";

import type { PlanAction } from "../plan-action.ts";
import { type Change, reportOn } from "../report/plan-report.ts";
import type { Seen } from "../world/seen.ts";

/** A rule of plans. */
export type PlanRule = Rule<Seen, PlanAction>;
/** What a rule of plans answers. */
export type PlanVerdict = Verdict<PlanAction>;

/** What a rule decides besides what is seen. */
export interface Decision extends Change {
  readonly outcome: Outcome;
  readonly actions?: readonly PlanAction[];
  readonly inFlight?: number;
}

/** A decision together with the report on everything that is seen. */
export function answer(seen: Seen, now: Date, decision: Decision): PlanVerdict {
  const { outcome, actions = [], inFlight = 1, ...change } = decision;
  return { actions, outcome, inFlight, ...reportOn(seen, now, change) };
}

/** A reason with its sentence. */
export function because(reason: string, message: string): Why {
  return { reason, message: message.slice(0, 1024) };
}

/** Comes back at once: what was decided now is to be seen by the next pass. */
export const atOnceMs = 0;
