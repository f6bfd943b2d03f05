import { opensGate } from "@quartermaster/health";
import { settled, stalled, timestampOf, waiting } from "@quartermaster/runtime";

import { leftoversRemain, successorUnready } from "../handover/leftovers.ts";
import { installedMessage } from "../handover/replacement.ts";
import { degradationOf, fullCheckMs } from "../installed/installed.ts";
import { stageJobs } from "../jobs/stage-jobs.ts";
import { secretRetryMs } from "../manifest/content-reader.ts";
import { whyOf } from "../members/member-states.ts";
import { appliesStage, atOnceMs, because, type Decision, type PlanRule } from "../model/decision.ts";
import { attemptOf, finishing, hasStarted, isInstalled, stageIndexOf, turnTo } from "../model/plan-status.ts";
import type { PlanAction } from "../plan-action.ts";
import { collisionOf } from "../preflight/preflight.ts";
import { reasons } from "../reasons.ts";
import { afterRefusal, tryAgainLater } from "../retry/retry.ts";
import { rollBack, rolledBack } from "../retry/roll-back.ts";
import type { MemberView, Seen } from "../seen.ts";
import {
  exclusivesRemain,
  keptByTransformations,
  lateMatches,
  transformedRemain,
} from "../transformations/transformed-remain.ts";
import { dueWrites } from "./due-writes.ts";

/** So long a reconcile begins writes: progress shows in the status, and the reconcile stays within its deadline. */
const writingMs = 3_000;
const pollMs = 250;
const minuteMs = 60_000;

/** From the first write until every stage was passed once. */
export const applying: readonly PlanRule[] = [
  { name: "rolledBack", decide: whileApplying(rolledBack) },
  { name: "contentLost", decide: whileApplying(contentLost) },
  { name: "objectRefused", decide: whileApplying(objectRefused) },
  { name: "stepRefused", decide: whileApplying(stepRefused) },
  { name: "exclusivesRemain", decide: whileApplying(exclusivesRemain) },
  { name: "objectTaken", decide: whileApplying(objectTaken) },
  { name: "writesDue", decide: whileApplying(writesDue) },
  { name: "writesBlocked", decide: whileApplying(writesBlocked) },
  { name: "gateClosed", decide: whileApplying(gateClosed) },
  { name: "stageJobs", decide: whileApplying(stageJobs) },
  { name: "stagePassed", decide: whileApplying(stagePassed) },
  { name: "transformedRemain", decide: whileApplying(transformedRemain) },
  { name: "successorUnready", decide: whileApplying(successorUnready) },
  { name: "leftoversRemain", decide: whileApplying(leftoversRemain) },
  { name: "finished", decide: whileApplying(finished) },
];

function whileApplying(rule: PlanRule["decide"]): PlanRule["decide"] {
  return (seen, now) => (hasStarted(seen.plan) && !isInstalled(seen.plan) ? rule(seen, now) : undefined);
}

/** A manifest went while the plan is being carried out: without it no one can say what the stages hold. Its return continues. */
function contentLost(seen: Seen): Decision | undefined {
  const [first] = seen.content.unresolved;
  if (first === undefined) return undefined;
  const why = because(first.reason, first.message);
  const isDeleted = first.reason === "ManifestMissing" || first.reason === "SecretMissing";
  const goneMs = first.reason === "SecretMissing" ? secretRetryMs(seen) : minuteMs;
  const outcome = isDeleted ? waiting(why, goneMs) : stalled(why, 10 * minuteMs);
  return { phase: isDeleted ? "Applying" : "Failed", outcome };
}

/** The server refused an object for good: later stages do not begin, earlier ones stay as they are. */
function objectRefused(seen: Seen, now: Date): Decision | undefined {
  const stageIndex = stageIndexOf(seen.plan);
  const refused = seen.members.find(
    ({ member, failure }) =>
      member.stageIndex <= stageIndex && failure !== undefined && failure.kind !== "transient",
  );
  return refused?.failure === undefined ? undefined : afterRefusal(seen, now, refused.failure);
}

/** A job of the stage was refused, or the end of what is to go. */
function stepRefused(seen: Seen, now: Date): Decision | undefined {
  const [failure] = seen.writeFailures;
  return failure === undefined ? undefined : afterRefusal(seen, now, failure);
}

/** An object of another owner has taken one of our names since the preflight. When it is deleted, the plan continues. */
function objectTaken(seen: Seen, now: Date): Decision | undefined {
  const stageIndex = stageIndexOf(seen.plan);
  const [collision] = seen.members
    .filter(({ member, blockedBy }) => member.stageIndex <= stageIndex && blockedBy === undefined)
    .flatMap(collisionOf);
  if (collision === undefined) return undefined;
  return tryAgainLater(seen, now, because(collision.reason, collision.message));
}

function writesDue(seen: Seen): Decision | undefined {
  const { plan } = seen;
  const stageIndex = stageIndexOf(plan);
  const { due } = dueWrites(seen, stageIndex);
  if (due.length === 0) return undefined;
  const { phase, why } = applyingText(seen);
  return {
    phase,
    actions: due.map((view) => ({ kind: "apply", view, isRepair: false })),
    inFlight: plan.spec.stages[stageIndex]?.concurrency ?? 1,
    beginWithinMs: writingMs,
    isInterim: true,
    outcome: waiting(why, atOnceMs),
  };
}

/** A kind that its CRD will bring, a namespace that is being created: it comes shortly, or another client has to act. */
function writesBlocked(seen: Seen): Decision | undefined {
  const { blocked, retryInMs = pollMs } = dueWrites(seen, stageIndexOf(seen.plan));
  const [first] = blocked;
  if (first === undefined) return undefined;
  const text = blocked.map(({ message }) => message);
  if (blocked.some(({ reason }) => reason === reasons.namespaceReplaced))
    return namespaceReplaced(seen, text.join("; "));
  if (isLate(seen)) return stageTimedOut(seen, text.join("; "));
  const why = because(first.reason, `Waiting: ${text.slice(0, 5).join("; ")}.`);
  return { phase: "Applying", outcome: waiting(why, Math.max(retryInMs, pollMs)) };
}

/** No attempt can help: a user has to decide whether the plan is meant for the new namespace. */
function namespaceReplaced(seen: Seen, text: string): Decision {
  const why = because(reasons.namespaceReplaced, `The plan cannot continue: ${text}.`);
  return rollBack(seen, why) ?? { phase: "Failed", outcome: stalled(why, minuteMs) };
}

function gateClosed(seen: Seen): Decision | undefined {
  const stageIndex = stageIndexOf(seen.plan);
  const stage = seen.plan.spec.stages[stageIndex];
  if (stage === undefined || stage.wait === "Applied") return undefined;
  const closed = seen.members.filter(
    ({ member, state }) => member.stageIndex === stageIndex && !opensGate(state) && state !== "Drifted",
  );
  if (closed.length === 0) return undefined;
  const failed = closed.find(({ state }) => state === "Failed");
  if (failed !== undefined) return resourceFailed(seen, failed);
  const text = closed.slice(0, 3).map((view) => whyOf(view).message);
  if (isLate(seen)) return stageTimedOut(seen, text.join(" "));
  const why = because(reasons.waitingForStage, `Waiting for stage ${stage.name}. ${text.join(" ")}`);
  const leftMs = stage.timeoutSeconds * 1000 - seen.stageElapsedMs;
  const rechecks = closed.flatMap(({ health, revertConflict }) => [
    ...(health?.recheckAfterMs === undefined ? [] : [health.recheckAfterMs]),
    ...(revertConflict === undefined ? [] : [revertConflict.notBeforeMs - seen.nowMs]),
  ]);
  return { phase: "Applying", outcome: waiting(why, Math.max(1, Math.min(leftMs, ...rechecks))) };
}

/** It says itself that it has failed: no use in waiting for the stage's end. Its events bring us back. */
function resourceFailed(seen: Seen, view: MemberView): Decision {
  const why = because(reasons.resourceFailed, whyOf(view).message);
  return rollBack(seen, why) ?? { phase: "Failed", outcome: stalled(why, 10 * minuteMs) };
}

function isLate({ plan, stageElapsedMs }: Seen): boolean {
  const stage = plan.spec.stages[stageIndexOf(plan)];
  return stage !== undefined && stageElapsedMs > stage.timeoutSeconds * 1000;
}

/** The plan is stalled but watches on: what becomes ready late still opens the gate. */
function stageTimedOut(seen: Seen, text: string): Decision {
  const stage = seen.plan.spec.stages[stageIndexOf(seen.plan)];
  const why = because(
    reasons.stageTimeout,
    `Stage ${stage?.name ?? ""} was not ready within ${stage?.timeoutSeconds ?? 0} s. ${text}`,
  );
  return rollBack(seen, why) ?? { phase: "Failed", outcome: stalled(why, minuteMs) };
}

/** Each change of a large plan's status costs the server more than many small objects do. A crash before it only leads here again. */
function stagePassed(seen: Seen, now: Date): Decision | undefined {
  const { plan } = seen;
  const nextIndex = stageIndexOf(plan) + 1;
  if (nextIndex > plan.spec.stages.length) return undefined;
  const next = plan.spec.stages[nextIndex];
  const tell: PlanAction = { kind: "reportStage", tookMs: seen.stageElapsedMs };
  if (next !== undefined) {
    const why = appliesStage(next.name);
    return {
      phase: "Applying",
      actions: [tell],
      isInterim: true,
      progress: turnTo(next, now),
      outcome: waiting(why, atOnceMs),
    };
  }
  const { predecessors } = seen.replacement;
  if (predecessors.length === 0 && (plan.spec.transformations ?? []).length === 0)
    return finished(seen, now, [tell]);
  const why = because(reasons.finishing, "Every stage is passed.");
  return {
    phase: "Finishing",
    actions: [tell],
    isInterim: true,
    progress: { stage: finishing },
    outcome: waiting(why, atOnceMs),
  };
}

function finished(seen: Seen, now: Date, actions: readonly PlanAction[] = []): Decision {
  const { plan, replacement } = seen;
  // What is ready is reported immediately; what is not, the next reconcile reports, with all that an installed plan says.
  const isReady = degradationOf(seen) === undefined;
  const message = isReady ? installedMessage(replacement) : "Every stage is passed.";
  const last = plan.spec.stages.at(-1)?.name;
  return {
    phase: isReady ? "Installed" : "Degraded",
    message,
    actions: [...actions, ...keptByTransformations(seen), ...lateMatches(seen)],
    progress: {
      finishedAt: timestampOf(now),
      namespaces: undefined,
      pinned: undefined,
      attempt: attemptOf(plan),
      stage: last,
      ...(replacement.predecessors.length === 0
        ? {}
        : {
            replaces: replacement.predecessors.map(({ name, uid, state }) => ({
              name,
              uid,
              state: state === "Gone" ? ("Gone" as const) : ("Superseded" as const),
            })),
          }),
    },
    outcome: isReady ? settled(fullCheckMs) : waiting(because(reasons.degraded, message), atOnceMs),
  };
}

function applyingText(seen: Seen): {
  readonly phase: "Applying" | "Failed";
  readonly why: ReturnType<typeof because>;
} {
  const name = seen.plan.spec.stages[stageIndexOf(seen.plan)]?.name ?? "";
  if (isLate(seen))
    return {
      phase: "Failed",
      why: because(reasons.stageTimeout, `Stage ${name} timed out; retrying its writes.`),
    };
  return { phase: "Applying", why: appliesStage(name) };
}
