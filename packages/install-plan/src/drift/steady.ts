import { opensGate } from "@quartermaster/health";
import { held, settled, stalled, unreachable, waiting } from "@quartermaster/runtime";

import type { PlanAction } from "../plan-action.ts";
import { whyOf } from "../plan-report.ts";
import { isInstalled } from "../plan-status.ts";
import { answer, atOnceMs, because, type PlanRule, type PlanVerdict } from "../plan-verdict.ts";
import { reasons } from "../reasons.ts";
import { isWorthAnotherTry, permissionsJustChanged } from "../retry/retry.ts";
import type { MemberView, Seen } from "../seen.ts";
import { recheckMs } from "../wake-index.ts";
import { hasDrifted } from "./drift.ts";

/** What no event reports, such as an owner label on an object that no watch shows, is found by a full check every ten hours. */
export const fullCheckMs = 10 * 60 * 60_000;
const repairsInFlight = 4;
/** A kind that comes back with its CRD is in discovery shortly after the last event about that. */
const blockedMs = 1_000;

/** Once installed: repairs what the lifecycle policy allows, and reports the state of everything. */
export const steady: readonly PlanRule[] = [
  { name: "contentChanged", answer: whileInstalled(contentChanged) },
  { name: "repairsDue", answer: whileInstalled(repairsDue) },
  { name: "asInstalled", answer: asInstalled },
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
  const { plan, ownerLabels, account } = seen;
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
    actions: inOrder(due).map((view) => ({ kind: "apply", plan, ownerLabels, view, isRepair: true })),
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

/** Nothing is done to what is leaving, blocked, or was tried just now. */
function isRepairDue(view: MemberView, seen: Seen): boolean {
  const { blockedBy, revertConflict, live } = view;
  if (blockedBy !== undefined || live?.metadata.deletionTimestamp !== undefined) return false;
  const notBeforeMs = Math.max(restUntilMs(view, seen), revertConflict?.notBeforeMs ?? 0);
  return notBeforeMs <= seen.nowMs && isRepairWanted(view);
}

function restUntilMs({ failure }: MemberView, seen: Seen): number {
  return failure === undefined || isWorthAnotherTry(failure, seen) ? 0 : failure.notBeforeMs;
}

/** According to the lifecycle policy of the member. */
function isRepairWanted({ member: { lifecycle }, drift, isExpired, ...view }: MemberView): boolean {
  switch (view.ownership.kind) {
    case "absent":
      return lifecycle.recreate && isExpired !== true;
    case "inherited":
      return true;
    case "owned":
      return lifecycle.revert !== "Off" && hasDrifted(drift);
    // Restored from a backup, say: taken back where the plan may adopt.
    case "unowned":
      return view.ownership.isForged === true && lifecycle.adoption !== "Never";
    case "ownedByOther":
      return false;
    default:
      return unreachable(view.ownership);
  }
}

function asInstalled(seen: Seen, now: Date): PlanVerdict {
  const open = seen.members.filter(({ state }) => !opensGate(state));
  const afterMs = recheckAfterMs(seen);
  if (open.length === 0)
    return answer(seen, now, {
      phase: "Installed",
      message: "Everything is installed and ready.",
      actions: [...lateComers(seen), ...forgotten(seen)],
      outcome: settled(afterMs),
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
    outcome: isWaitedFor ? waiting(why, afterMs) : held(why),
  });
}

function lateComers({ plan, replacement }: Seen): readonly PlanAction[] {
  const warnings = replacement.late
    .slice(0, lateComersShown)
    .map(
      (name) =>
        `Plan ${name} matches spec.replaces.selector but was created too late; replace it with a new plan.`,
    );
  return warnings.length === 0 ? [] : [{ kind: "warn", plan, reason: "NotReplaced", warnings }];
}

const lateComersShown = 10;

/** Those beyond the limit that may be deleted; the others stay, and that is reported. */
function forgotten({ plan, account, takeover }: Seen): readonly PlanAction[] {
  if (account.kind !== "present") return [];
  const { forgettable = [], kept = [], subject = "" } = takeover ?? {};
  const warnings = kept.map(
    ({ metadata: { name } }) =>
      `Plan ${name} exceeds historyLimit and is kept: ${subject} may not delete it.`,
  );
  return [
    ...forgettable.map((past) => ({ kind: "forgetPlan" as const, past })),
    ...(warnings.length === 0
      ? []
      : [{ kind: "warn" as const, plan, reason: "NotForgotten" as const, warnings }]),
  ];
}

/** Somebody, perhaps we, is at it; otherwise the lifecycle policy says to leave it. */
function isUnderWay({ state, revertConflict, failure, blockedBy }: MemberView): boolean {
  const isOurs = revertConflict !== undefined || failure !== undefined || blockedBy !== undefined;
  return isOurs || state === "InProgress" || state === "Terminating" || state === "Failed";
}

function recheckAfterMs(seen: Seen): number {
  const { members, nowMs } = seen;
  const times = members.flatMap(({ health, revertConflict, failure, blockedBy }) => [
    ...(blockedBy === undefined ? [] : [blockedMs]),
    ...(health?.recheckAfterMs === undefined ? [] : [health.recheckAfterMs]),
    ...(revertConflict === undefined ? [] : [revertConflict.notBeforeMs - nowMs]),
    ...(failure === undefined ? [] : [failure.notBeforeMs - nowMs]),
    ...(failure !== undefined && permissionsJustChanged(failure, seen) ? [recheckMs] : []),
  ]);
  return Math.max(1, Math.min(fullCheckMs, ...times));
}
