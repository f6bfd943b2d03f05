import { held, settled, stalled, unreachable, waiting } from "@quartermaster/runtime";

import { opensGate } from "../health/index.ts";
import type { PlanAction } from "../plan-action.ts";
import { isInstalled } from "../progress.ts";
import { reasons } from "../reasons.ts";
import { whyOf } from "../report/plan-report.ts";
import { restlessRetryMs } from "../waiting-room.ts";
import { hasDrifted } from "../world/drift.ts";
import type { MemberView, Seen } from "../world/seen.ts";
import { isStirred, isWorthAnotherTry } from "./stirred.ts";
import { answer, atOnceMs, because, type PlanRule, type PlanVerdict } from "./verdict.ts";

/** What no event tells, such as a mark on an object that no watch shows, is found by a look every ten hours. */
export const fullCheckMs = 10 * 60 * 60_000;
const repairsInFlight = 4;
/** A kind that comes back with its CRD is in discovery a moment after the last event about that. */
const blockedMs = 1_000;

/** Once installed: repairs what the knobs say, and tells how everything is. */
export const steady: readonly PlanRule[] = [
  { name: "contentChanged", answer: whileInstalled(contentChanged) },
  { name: "repairsDue", answer: whileInstalled(repairsDue) },
  { name: "asInstalled", answer: standing },
];

function whileInstalled(rule: PlanRule["answer"]): PlanRule["answer"] {
  return (seen, now) => (isInstalled(seen.plan) ? rule(seen, now) : undefined);
}

/** Nobody can say any more what was to be installed: nothing is repaired until it is restored. */
function contentChanged(seen: Seen, now: Date): PlanVerdict | undefined {
  const changed = seen.content.unresolved.find(
    ({ reason }) => reason === "ContentChanged" || reason === "ManifestInvalid",
  );
  if (changed === undefined) return undefined;
  const why = because(changed.reason, changed.message);
  return answer(seen, now, { phase: "Installed", message: why.message, outcome: stalled(why) });
}

function repairsDue(seen: Seen, now: Date): PlanVerdict | undefined {
  const { plan, marker, account } = seen;
  // Without the account that was vouched for nothing can be written; the Authorized condition says so.
  if (account.kind !== "present") return undefined;
  const due = seen.members.filter((view) => isRepairDue(view, seen));
  if (due.length === 0) return undefined;
  const why = because(
    reasons.drifted,
    `Restores ${due
      .map((view) => whyOf(view).message)
      .slice(0, 3)
      .join(" ")}`,
  );
  return answer(seen, now, {
    phase: "Installed",
    message: why.message,
    actions: inOrder(due).map((view) => ({ kind: "apply", plan, marker, view, isRepair: true })),
    inFlight: repairsInFlight,
    outcome: waiting(why, atOnceMs),
  });
}

function inOrder(views: readonly MemberView[]): readonly MemberView[] {
  const first = views.filter(({ member }) =>
    /^(?:Namespace|CustomResourceDefinition)$/.test(member.identity.kind),
  );
  return first.length > 0 ? first : views;
}

/** Nothing is done to what is leaving, blocked, or was tried a moment ago. */
function isRepairDue(view: MemberView, seen: Seen): boolean {
  const { blockedBy, contest, live } = view;
  if (blockedBy !== undefined || live?.metadata.deletionTimestamp !== undefined) return false;
  const notBeforeMs = Math.max(restUntilMs(view, seen), contest?.notBeforeMs ?? 0);
  return notBeforeMs <= seen.nowMs && isRepairWanted(view);
}

function restUntilMs({ trouble }: MemberView, seen: Seen): number {
  return trouble === undefined || isWorthAnotherTry(trouble, seen) ? 0 : trouble.notBeforeMs;
}

/** By the knobs of the member. */
function isRepairWanted({ member: { lifecycle }, drift, isOver, ...view }: MemberView): boolean {
  switch (view.standing.kind) {
    case "absent":
      return lifecycle.recreate && isOver !== true;
    case "inherited":
      return true;
    case "mine":
      return lifecycle.revert !== "Off" && hasDrifted(drift);
    // Restored from a backup, say: taken back where the plan may adopt.
    case "unowned":
      return view.standing.isForged === true && lifecycle.adoption !== "Never";
    case "foreign":
      return false;
    default:
      return unreachable(view.standing);
  }
}

function standing(seen: Seen, now: Date): PlanVerdict {
  const open = seen.members.filter(({ state }) => !opensGate(state));
  const recheckMs = recheckAfterMs(seen);
  if (open.length === 0)
    return answer(seen, now, {
      phase: "Installed",
      message: "Everything is installed and ready.",
      actions: [...lateComers(seen), ...forgotten(seen)],
      outcome: settled(recheckMs),
    });
  const [worst] = open;
  const message = open
    .slice(0, 3)
    .map((view) => whyOf(view).message)
    .join(" ");
  const why = because(worst === undefined ? reasons.degraded : whyOf(worst).reason, message);
  const isWaitedFor = open.some((view) => isUnderWay(view));
  return answer(seen, now, {
    phase: "Installed",
    message,
    outcome: isWaitedFor ? waiting(why, recheckMs) : held(why),
  });
}

function lateComers({ plan, replacement }: Seen): readonly PlanAction[] {
  const warnings = replacement.late.map(
    (name) => `Plan ${name} matches spec.replaces.selector but came too late; a new plan has to replace it.`,
  );
  return warnings.length === 0 ? [] : [{ kind: "warn", plan, reason: "NotReplaced", warnings }];
}

/** Those beyond the limit that may be deleted; the others stay, and that is reported. */
function forgotten({ plan, account, takeover }: Seen): readonly PlanAction[] {
  if (account.kind !== "present") return [];
  const { forgettable = [], kept = [], subject = "" } = takeover ?? {};
  const warnings = kept.map(
    ({ metadata: { name } }) =>
      `Plan ${name} is beyond historyLimit and stays: ${subject} may not delete it.`,
  );
  return [
    ...forgettable.map((past) => ({ kind: "forgetPlan" as const, past })),
    ...(warnings.length === 0
      ? []
      : [{ kind: "warn" as const, plan, reason: "NotForgotten" as const, warnings }]),
  ];
}

/** Somebody, perhaps we, is at it; otherwise a knob says to leave it. */
function isUnderWay({ state, contest, trouble, blockedBy }: MemberView): boolean {
  const isOurs = contest !== undefined || trouble !== undefined || blockedBy !== undefined;
  return isOurs || state === "InProgress" || state === "Terminating" || state === "Failed";
}

function recheckAfterMs(seen: Seen): number {
  const { members, nowMs } = seen;
  const times = members.flatMap(({ health, contest, trouble, blockedBy }) => [
    ...(blockedBy === undefined ? [] : [blockedMs]),
    ...(health?.recheckAfterMs === undefined ? [] : [health.recheckAfterMs]),
    ...(contest === undefined ? [] : [contest.notBeforeMs - nowMs]),
    ...(trouble === undefined ? [] : [trouble.notBeforeMs - nowMs]),
    ...(trouble !== undefined && isStirred(trouble, seen) ? [restlessRetryMs] : []),
  ]);
  return Math.max(1, Math.min(fullCheckMs, ...times));
}
