import { type Outcome, type Rule, unreachable, type Verdict } from "@quartermaster/runtime";

import { applying } from "./apply/applying.ts";
import { replaced } from "./handover/replaced.ts";
import { installed } from "./installed/installed.ts";
import { endedJobs } from "./jobs/ended-jobs.ts";
import { atOnceMs, type Decision, type PlanRule } from "./model/decision.ts";
import { hasForgedProgress } from "./model/plan-status.ts";
import type { PlanAction } from "./plan-action.ts";
import { beforeFirstWrite } from "./preflight/before-first-write.ts";
import { planReport } from "./report/plan-report.ts";
import type { Seen } from "./seen.ts";

/** The table of contents of plans: the first rule that does not pass decides. */
export const rules: readonly Rule<Seen, PlanAction>[] = [
  ...replaced,
  ...beforeFirstWrite,
  ...applying,
  ...installed,
].map(reported);

/** The rule with the report on everything that was observed. */
function reported({ name, decide }: PlanRule): Rule<Seen, PlanAction> {
  return {
    name,
    decide: (seen, now) => {
      const decision = decide(seen, now);
      return decision === undefined ? undefined : verdictOf(seen, now, decision);
    },
  };
}

function verdictOf(
  seen: Seen,
  now: Date,
  { outcome, actions = [], inFlight = 1, beginWithinMs, isInterim = false, ...change }: Decision,
): Verdict<PlanAction> {
  const ended = endedJobs(seen);
  const { message = "why" in outcome ? outcome.why.message : "" } = change;
  return {
    actions: [...forgeries(seen), ...ended.actions, ...actions],
    outcome: ended.isMoreToCome ? atOnce(outcome) : outcome,
    inFlight,
    isInterim: isInterim && !ended.isMoreToCome,
    beginWithinMs,
    ...planReport(seen, now, { ...change, message }),
  };
}

/** Before it can count: once the plan is approved no one could tell it from the real one. */
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
