import type { InstallPlan } from "@quartermaster/api";
import type { System } from "@quartermaster/runtime";

import type { PlanMemory } from "../plan-memory.ts";
import { attemptOf, hasStarted, isInstalled, stageIndexOf, stageLastedMs } from "../progress.ts";

/** How long the present stage has been worked on in this attempt. */
export function stageElapsedMs(plan: InstallPlan, memory: PlanMemory, system: System): number {
  if (!hasStarted(plan) || isInstalled(plan)) return 0;
  const matter = `stage/${attemptOf(plan)}/${stageIndexOf(plan)}`;
  return memory.elapsedMs(matter, system.monotonicMs(), stageLastedMs(plan, system.wallMs()));
}

/** How long until a failed attempt is followed by the next; 0 when it is due. */
export function retryInMs(plan: InstallPlan, memory: PlanMemory, nowMs: number): number {
  if (plan.status?.phase !== "Failed") return 0;
  const { initialSeconds, maxSeconds } = plan.spec.retry;
  const attempt = attemptOf(plan);
  const backOffMs = 1000 * Math.min(maxSeconds, initialSeconds * 2 ** Math.min(attempt - 1, 20));
  return Math.max(0, backOffMs - memory.elapsedMs(`failed/${attempt}`, nowMs));
}
