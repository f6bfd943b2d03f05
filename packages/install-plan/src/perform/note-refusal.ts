import { ApiError, type Context } from "@quartermaster/runtime";

import { type Identity, identityKey, identityOf } from "../identity.ts";
import type { PlanAction } from "../plan-action.ts";
import { reasons } from "../reasons.ts";
import { isLasting } from "../refusal.ts";
import type { ApplyParts } from "./apply-member.ts";
import { NameTakenError } from "./name-taken.ts";
import { performAction } from "./performer.ts";
import { writeFailureFrom } from "./write-failure.ts";

/** Carries out an action of a reconcile. What the server refuses for good is remembered: thrown, it would leave the status as it was. */
export async function performNoting(action: PlanAction, ctx: Context, parts: ApplyParts): Promise<void> {
  const identity = objectOf(action);
  if (identity === undefined || !("plan" in action)) {
    await performAction(action, ctx, parts);
    return;
  }
  const { setbacks } = parts.memories.of(action.plan);
  const key = identityKey(identity);
  try {
    await performAction(action, ctx, parts);
    setbacks.delete(key);
  } catch (error) {
    const count = (setbacks.get(key)?.count ?? 0) + 1;
    const nowMs = parts.system.monotonicMs();
    if (error instanceof NameTakenError) {
      const { message } = error;
      const [reason, kind] = [reasons.nameTaken, "collision" as const];
      setbacks.set(key, { kind, reason, message, count, notBeforeMs: nowMs, triedAtMs: nowMs });
      return;
    }
    if (!(error instanceof ApiError) || !isLasting(error.class)) throw error;
    setbacks.set(key, writeFailureFrom(error, { identity, count, nowMs }));
  }
}

/** What is written besides the plan's members; those have writeFailures of their own. */
function objectOf(action: PlanAction): Identity | undefined {
  if (action.kind === "delete" || action.kind === "release") return identityOf(action.target.live);
  if (action.kind !== "createJob" && action.kind !== "deleteJob") return undefined;
  const { namespace = "" } = action.plan.metadata;
  return { apiVersion: "batch/v1", kind: "Job", namespace, name: action.job.jobName };
}
