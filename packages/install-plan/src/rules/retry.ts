import { stalled, waiting, type Why } from "@quartermaster/runtime";

import type { WriteFailure } from "../plan-memory.ts";
import { attemptOf, turnTo } from "../progress.ts";
import { reasons } from "../reasons.ts";
import { recheckMs } from "../wake-index.ts";
import type { Seen } from "../world/seen.ts";
import { permissionsJustChanged, isWorthAnotherTry } from "./permissions-just-changed.ts";
import { rollBack } from "./roll-back.ts";
import { answer, atOnceMs, because, type PlanVerdict } from "./verdict.ts";

/** The attempt has failed. After the back-off the next one begins with the first stage; what is already installed is left alone. */
export function tryAgainLater(seen: Seen, now: Date, why: Why): PlanVerdict {
  const retreat = rollBack(seen, now, why);
  if (retreat !== undefined) return retreat;
  const { plan } = seen;
  const { maxAttempts, initialSeconds } = plan.spec.retry;
  const isLast = maxAttempts > 0 && attemptOf(plan) >= maxAttempts;
  const isNews = plan.status?.phase !== "Failed";
  if (isLast) return answer(seen, now, { phase: "Failed", message: why.message, outcome: stalled(why) });
  if (isNews || seen.retryInMs > 0) {
    const delayMs = isNews ? initialSeconds * 1000 : seen.retryInMs;
    return answer(seen, now, { phase: "Failed", message: why.message, outcome: stalled(why, delayMs) });
  }
  return nextAttempt(seen, now);
}

/** As after every failure; but where a permission was lacking and permissions have just changed, what was refused is tried at once. */
export function afterRefusal(seen: Seen, now: Date, failure: WriteFailure): PlanVerdict {
  const why = because(failure.reason, failure.message);
  if (isWorthAnotherTry(failure, seen))
    return answer(seen, now, {
      phase: "Failed",
      message: why.message,
      actions: [{ kind: "forgetWriteFailures", plan: seen.plan }],
      isInterim: true,
      outcome: stalled(why, recheckMs),
    });
  const verdict = tryAgainLater(seen, now, why);
  const { outcome } = verdict;
  if (outcome.kind !== "stalled" || !permissionsJustChanged(failure, seen)) return verdict;
  return { ...verdict, outcome: { ...outcome, retryAfterMs: recheckMs } };
}

function nextAttempt(seen: Seen, now: Date): PlanVerdict {
  const { plan } = seen;
  const attempt = attemptOf(plan) + 1;
  const [first] = plan.spec.stages;
  const why = because(reasons.applying, "Starting a new attempt.");
  return answer(seen, now, {
    phase: "Applying",
    message: why.message,
    actions: [{ kind: "forgetWriteFailures", plan }],
    progress: { attempt, ...turnTo(first, now) },
    outcome: waiting(why, atOnceMs),
  });
}
