import { opensGate, worstFirst } from "@quartermaster/health";
import { type ConditionUpdate, held, settled, stalled, waiting, type Why } from "@quartermaster/runtime";

import { dueRepairs, nextRepairs } from "../drift/repairs.ts";
import { installedMessage } from "../handover/replacement.ts";
import { whyOf } from "../members/member-states.ts";
import { atOnceMs, because, type Decision, type PlanRule, recheckMs } from "../model/decision.ts";
import { isInstalled } from "../model/plan-status.ts";
import { type PlanAction, warn } from "../plan-action.ts";
import { reasons } from "../reasons.ts";
import { planConditions } from "../report/plan-conditions.ts";
import { permissionsJustChanged } from "../retry/retry.ts";
import type { MemberView, Seen } from "../seen.ts";

/** A change without an event, such as an owner label on an object that no watch shows, is found by a full check every ten hours. */
export const fullCheckMs = 10 * 60 * 60_000;
const repairsInFlight = 4;
/** A kind that comes back with its CRD is in discovery shortly after the last event about that. */
const blockedMs = 1_000;

/** Once installed: repairs what the lifecycle policy allows, and reports the state of everything. */
export const installed: readonly PlanRule[] = [
  { name: "contentChanged", decide: whileInstalled(contentChanged) },
  { name: "repairsDue", decide: whileInstalled(repairsDue) },
  { name: "asInstalled", decide: asInstalled },
];

function whileInstalled(rule: PlanRule["decide"]): PlanRule["decide"] {
  return (seen, now) => (isInstalled(seen.plan) ? rule(seen, now) : undefined);
}

/** No one can say any more what was to be installed: nothing is repaired until it is restored. */
function contentChanged(seen: Seen): Decision | undefined {
  const changed = seen.content.unresolved.find(
    ({ reason }) => reason === "ContentChanged" || reason === "ManifestInvalid",
  );
  if (changed === undefined) return undefined;
  const why = because(changed.reason, changed.message);
  return { phase: "Degraded", outcome: stalled(why) };
}

function repairsDue(seen: Seen): Decision | undefined {
  const { account } = seen;
  // Without the account that was vouched for nothing can be written; the Authorized condition says so.
  if (account.kind !== "present") return undefined;
  const due = dueRepairs(seen);
  if (due.length === 0) return undefined;
  const why = because(
    reasons.drifted,
    `Restores ${due
      .map((view) => whyOf(view).message)
      .slice(0, 3)
      .join(" ")}`,
  );
  return {
    phase: "Degraded",
    // What is put right immediately needs no report; the repair is an event.
    isInterim: true,
    actions: nextRepairs(due).map((view) => ({ kind: "apply", view, isRepair: true })),
    inFlight: repairsInFlight,
    outcome: waiting(why, atOnceMs),
  };
}

function asInstalled(seen: Seen, now: Date): Decision {
  const afterMs = recheckAfterMs(seen, now.getTime());
  const degradation = degradationOf(seen);
  if (degradation === undefined)
    return {
      phase: "Installed",
      message: installedMessage(seen.replacement),
      actions: [...lateComers(seen), ...forgotten(seen)],
      outcome: settled(afterMs),
    };
  const { why, actor } = degradation;
  const outcomes = { user: stalled(why, afterMs), cluster: waiting(why, afterMs), none: held(why, afterMs) };
  return { phase: "Degraded", outcome: outcomes[actor] };
}

/** Why a plan whose stages are all passed is not as declared, and who can change that. */
export interface Degradation {
  readonly why: Why;
  /** `no one`: the lifecycle policy says to leave it. */
  readonly actor: "user" | "cluster" | "none";
}

/** Undefined when everything is as declared. What keeps the plan from repairing anything comes before what is to be repaired. */
export function degradationOf(seen: Seen): Degradation | undefined {
  const conditions = planConditions(seen);
  const unmet = (type: string, wanted: string): ConditionUpdate | undefined =>
    conditions.find((condition) => condition.type === type && condition.status !== wanted);
  const unable = unmet("Authorized", "True") ?? unmet("Resolved", "True") ?? unmet("Validated", "True");
  const open = worstFirst(seen.members.filter(({ state }) => !opensGate(state)));
  const isTried = open.some(({ failure }) => failure !== undefined);
  if (unable !== undefined && !isTried) return { why: because(unable.reason, unable.message), actor: "user" };
  const [worst] = open;
  if (worst !== undefined) {
    const text = open.slice(0, 3).map((view) => whyOf(view).message);
    const why = because(whyOf(worst).reason, text.join(" "));
    return { why, actor: open.some((view) => isUnderWay(view)) ? "cluster" : "none" };
  }
  const odd = unable ?? unmet("Applied", "True") ?? unmet("Drifted", "False");
  return odd === undefined ? undefined : { why: because(odd.reason, odd.message), actor: "none" };
}

function lateComers({ replacement }: Seen): readonly PlanAction[] {
  const warnings = replacement.late
    .slice(0, lateComersShown)
    .map(
      (name) =>
        `Plan ${name} matches spec.replaces.selector but was created too late; replace it with a new plan.`,
    );
  return warn({ reason: "NotReplaced", warnings });
}

const lateComersShown = 10;

/** Those beyond the limit that may be deleted; the others stay, and that is reported. */
function forgotten({ takeover }: Seen): readonly PlanAction[] {
  const { forgettable = [], kept = [], subject = "" } = takeover ?? {};
  const warnings = kept.map(
    ({ metadata: { name } }) =>
      `Plan ${name} exceeds historyLimit and is kept: ${subject} may not delete it.`,
  );
  return [
    ...forgettable.map((past) => ({ kind: "forgetPlan" as const, past })),
    ...warn({ reason: "NotForgotten", warnings }),
  ];
}

/** A client, perhaps we, is working on it; otherwise the lifecycle policy says to leave it. */
function isUnderWay({ state, revertConflict, failure, blockedBy }: MemberView): boolean {
  const isOurs = revertConflict !== undefined || failure !== undefined || blockedBy !== undefined;
  return isOurs || state === "InProgress" || state === "Terminating" || state === "Failed";
}

function recheckAfterMs(seen: Seen, wallMs: number): number {
  const { members, nowMs } = seen;
  const times = members.flatMap(({ health, revertConflict, failure, blockedBy, exception }) => [
    ...exceptionEnd(exception).map((untilMs) => untilMs - wallMs),
    ...(blockedBy === undefined ? [] : [blockedMs]),
    ...(health?.recheckAfterMs === undefined ? [] : [health.recheckAfterMs]),
    ...(revertConflict === undefined ? [] : [revertConflict.notBeforeMs - nowMs]),
    ...(failure === undefined ? [] : [failure.notBeforeMs - nowMs]),
    ...(failure !== undefined && permissionsJustChanged(failure, seen) ? [recheckMs] : []),
  ]);
  return Math.max(1, Math.min(fullCheckMs, ...times));
}

function exceptionEnd(exception: MemberView["exception"]): readonly number[] {
  return exception?.kind === "active" && exception.untilMs !== undefined ? [exception.untilMs] : [];
}
