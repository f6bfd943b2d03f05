import { type InstallPlan, planAnnotations } from "@quartermaster/api";
import { stalled, type System, waiting, type Why } from "@quartermaster/runtime";

import { atOnceMs, because, type Decision, recheckMs } from "../model/decision.ts";
import {
  attemptOf,
  hasStarted,
  isInstalled,
  stageIndexOf,
  stageLastedMs,
  turnTo,
} from "../model/plan-status.ts";
import type { WriteFailure } from "../model/write-failure.ts";
import type { PlanMemory } from "../plan-memory.ts";
import { reasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";
import { rollBack } from "./roll-back.ts";

/** The attempt has failed. After the back-off the next one begins with the first stage; what is already installed is left alone. */
export function tryAgainLater(seen: Seen, now: Date, why: Why): Decision {
  return afterFailure(seen, now, { why, isRepeatable: true });
}

/**
 * The same after a job: it may have changed data half way, so that it runs again only when a user says so, or where the author
 * limited the attempts and thereby allowed them.
 */
export function afterFailedJob(seen: Seen, now: Date, why: Why): Decision {
  return afterFailure(seen, now, { why, isRepeatable: seen.plan.spec.retry.maxAttempts > 0 });
}

interface Failure {
  readonly why: Why;
  /** Whether another attempt may be made without a user. */
  readonly isRepeatable: boolean;
}

function afterFailure(seen: Seen, now: Date, { why, isRepeatable }: Failure): Decision {
  const retreat = rollBack(seen, why);
  if (retreat !== undefined) return retreat;
  const { plan } = seen;
  const { initialSeconds } = plan.spec.retry;
  const isLast = !isRepeatable || isLastAttempt(plan);
  const isNews = plan.status?.phase !== "Failed";
  // A request that was there when the plan failed was meant for something else.
  if (!isNews && isRetryRequested(plan)) return nextAttempt(seen, now);
  if (isLast) return untilRequested(why);
  if (isNews || seen.retryInMs > 0) {
    const delayMs = isNews ? initialSeconds * 1000 : seen.retryInMs;
    return { phase: "Failed", outcome: stalled(why, delayMs) };
  }
  return nextAttempt(seen, now);
}

function isLastAttempt(plan: InstallPlan): boolean {
  const { maxAttempts } = plan.spec.retry;
  return maxAttempts > 0 && attemptOf(plan) >= maxAttempts;
}

/** Nothing brings the plan back but a user: see `planAnnotations.retry`. */
function untilRequested({ reason, message }: Why): Decision {
  const why = because(reason, `${message.replace(/[.:;]?$/, ".")} To try again, run qm plan retry.`);
  return { phase: "Failed", outcome: stalled(why) };
}

/** As after every failure; but where a permission was lacking and permissions have just changed, what was refused is tried immediately. */
export function afterRefusal(seen: Seen, now: Date, failure: WriteFailure): Decision {
  const why = because(failure.reason, failure.message);
  if (isWorthAnotherTry(failure, seen))
    return {
      phase: "Failed",
      actions: [{ kind: "forgetWriteFailures" }],
      isInterim: true,
      outcome: stalled(why, recheckMs),
    };
  const verdict = tryAgainLater(seen, now, why);
  const { outcome } = verdict;
  if (outcome.kind !== "stalled" || !permissionsJustChanged(failure, seen)) return verdict;
  return { ...verdict, outcome: { ...outcome, retryAfterMs: recheckMs } };
}

function nextAttempt(seen: Seen, now: Date): Decision {
  const { plan } = seen;
  const attempt = attemptOf(plan) + 1;
  const [first] = plan.spec.stages;
  const why = because(reasons.applying, "Starting a new attempt.");
  return {
    phase: "Applying",
    actions: [{ kind: "forgetWriteFailures" }],
    progress: { attempt, ...turnTo(first, now) },
    outcome: waiting(why, atOnceMs),
  };
}

/** Permissions have just changed, and their lack was the failure. */
export function permissionsJustChanged(
  { kind }: WriteFailure,
  { recentlyChanged = [] }: Pick<Seen, "recentlyChanged">,
): boolean {
  return kind === "forbidden" && recentlyChanged.includes("permissions");
}

/** The same, and it was not tried just now. */
export function isWorthAnotherTry(
  failure: WriteFailure,
  seen: Pick<Seen, "recentlyChanged" | "nowMs">,
): boolean {
  return permissionsJustChanged(failure, seen) && seen.nowMs - failure.triedAtMs >= recheckMs;
}

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

/**
 * What a user requests by annotation, as the status records it: acted on, or come when there was nothing to retry. Undefined
 * without one. Statuses hold only what can be printed.
 */
export function retryRequestOf({ metadata: { annotations = {} } }: InstallPlan): string | undefined {
  return annotations[planAnnotations.retry]?.replaceAll(/[^!-~]/g, "_").slice(0, recordedLength);
}

const recordedLength = 64;

/** Another attempt was requested, and the request is not handled yet. */
export function isRetryRequested(plan: InstallPlan): boolean {
  const request = retryRequestOf(plan);
  return request !== undefined && request !== plan.status?.lastHandledRetry;
}
