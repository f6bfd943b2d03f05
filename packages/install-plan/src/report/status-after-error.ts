import type { InstallPlan, PlanPhase } from "@quartermaster/api";
import type { Outcome } from "@quartermaster/runtime";

import { hasStarted, isInstalled, type PlanStatus } from "../model/plan-status.ts";

/**
 * What the status says when a reconcile failed before a rule could answer: everything from before, in a phase that fits the
 * conditions. Without it a plan that the operator cannot read would go on saying Installed.
 */
export function statusAfterError(plan: InstallPlan, outcome: Outcome): PlanStatus {
  const message = "why" in outcome ? outcome.why.message : plan.status?.message;
  const said = message === undefined ? {} : { message: message.slice(0, 1024) };
  return { ...plan.status, phase: phaseAfterError(plan, outcome), ...said };
}

function phaseAfterError(plan: InstallPlan, { kind }: Outcome): PlanPhase {
  const { phase } = plan.status ?? {};
  if (plan.metadata.deletionTimestamp !== undefined) return "Deleting";
  if (phase === "Superseded" || (phase === "Replacing" && kind === "waiting")) return phase;
  if (isInstalled(plan)) return "Degraded";
  if (kind === "stalled") return "Failed";
  return hasStarted(plan) ? "Applying" : "Validating";
}
