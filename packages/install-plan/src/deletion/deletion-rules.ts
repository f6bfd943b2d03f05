import { firstTen } from "@quartermaster/api";
import { type Rule, settled, stalled, type Verdict, waiting, type Why } from "@quartermaster/runtime";

import { staysBecause } from "../inventory/protection.ts";
import { recheckMs } from "../model/decision.ts";
import { describeIdentity, identityOf } from "../model/identity.ts";
import { hasStarted } from "../model/plan-status.ts";
import { type RemovalAction, warn } from "../plan-action.ts";
import { reasons } from "../reasons.ts";
import { type Blocker, reportDeletion } from "./deletion-report.ts";
import { type DeletionSeen, isLettingGo, type Unread } from "./deletion-seen.ts";
import { actionFor, blockerOf, type Candidate, deletionTurn, isDue, turnOf } from "./deletion-turn.ts";

type DeletionVerdict = Verdict<RemovalAction>;

/** The table of contents of a deletion: the first rule that matches decides. */
export const deletionRules: readonly Rule<DeletionSeen, RemovalAction>[] = [
  { name: "nothingOwned", decide: nothingOwned },
  { name: "cannotSee", decide: cannotSee },
  { name: "stillReading", decide: stillReading },
  { name: "nothingRemains", decide: nothingRemains },
  { name: "orphanRequested", decide: orphanRequested },
  { name: "dependentsFirst", decide: dependentsFirst },
  { name: "unansweredFirst", decide: unconfirmedFirst },
  { name: "accountUnusable", decide: accountUnusable },
  { name: "nextStep", decide: nextStep },
  { name: "refused", decide: refused },
  { name: "underWay", decide: underWay },
];

const observeAgainMs = 5_000;
const unauthorizedMs = 30_000;
const firstPictureMs = 100;

/** Nothing was ever written, or all that was belongs to the plan's successor. */
function nothingOwned({ plan }: DeletionSeen): DeletionVerdict | undefined {
  const ownsNothing = !hasStarted(plan) || plan.status?.phase === "Superseded";
  return ownsNothing ? { actions: [], outcome: settled() } : undefined;
}

/** It is the operator itself that may not see what is left. */
function cannotSee(seen: DeletionSeen): DeletionVerdict | undefined {
  const { plan, unseen } = seen;
  if (unseen === undefined) return undefined;
  if (isLettingGo(seen)) return letGo(seen, unseen);
  const why = { reason: reasons.deletionBlocked, message: `${unseen}.` };
  const outcome = stalled(why, retryMs(observeAgainMs, seen));
  return { actions: [], outcome, ...reportDeletion(plan, why, { isBlocked: true }) };
}

function stillReading({ plan, isPending }: DeletionSeen): DeletionVerdict | undefined {
  if (!isPending) return undefined;
  return { actions: [], outcome: waiting(deleting, firstPictureMs), ...reportDeletion(plan, deleting) };
}

function nothingRemains(seen: DeletionSeen): DeletionVerdict | undefined {
  const count = seen.remaining.length + awaitedOf(seen).length;
  return count === 0 ? { actions: [], outcome: settled() } : undefined;
}

/** Written down before anything is done: the request for it disappears while we work. */
function orphanRequested({ plan, isOrphanRequested, remaining }: DeletionSeen): DeletionVerdict | undefined {
  if (!isOrphanRequested || plan.status?.deletion?.orphan === true) return undefined;
  const why = { reason: reasons.deleting, message: "Orphaning the objects of the plan." };
  const deletion = { remaining: remaining.length, orphan: true };
  return { actions: [], outcome: waiting(why, 0), ...reportDeletion(plan, why, { deletion }) };
}

/** Plans that are deleted together go in the reverse order of their installation. A deletion that has had its time waits for no one. */
function dependentsFirst({ plan, dependents, isOverdue }: DeletionSeen): DeletionVerdict | undefined {
  if (dependents.length === 0 || isOverdue) return undefined;
  const message = `Waiting until InstallPlans that depend on this one are deleted: ${firstTen(dependents)}.`;
  const why = { reason: reasons.deleting, message };
  return { actions: [], outcome: waiting(why, observeAgainMs), ...reportDeletion(plan, why) };
}

/** No one can say whether they are there, and what was made before them has to wait for them. */
function unconfirmedFirst(seen: DeletionSeen): DeletionVerdict | undefined {
  const awaited = awaitedOf(seen);
  const [first, ...others] = awaited;
  if (first === undefined || turnOf(seen.remaining) >= turnOf(awaited)) return undefined;
  const rest = others.length === 0 ? "" : ` and ${others.length} more`;
  const name = `${describeIdentity(first.identity)}${rest}`;
  const message = `Whether ${name} still exists is unknown: the API of ${first.identity.apiVersion} does not respond.`;
  return blocked(seen, { reason: reasons.deletionBlocked, message });
}

function accountUnusable(seen: DeletionSeen): DeletionVerdict | undefined {
  const { account, plan } = seen;
  if (account === "present") return undefined;
  const name = plan.spec.serviceAccountName;
  const output = `${name} ${account === "missing" ? "does not exist" : "was deleted and created again"}`;
  if (isLettingGo(seen)) return letGo(seen, output);
  return account === "missing"
    ? unauthorized(seen, output)
    : stuck(seen, { reason: reasons.serviceAccountReplaced, message: replacedMessage(name) });
}

/**
 * Objects go in the reverse of the order in which they were made, a stage at a time: what a later stage needs stays until that stage
 * no longer exists. Jobs that run go before what they work with does, or they would make again what was just deleted.
 */
function nextStep(seen: DeletionSeen): DeletionVerdict | undefined {
  const { plan } = seen;
  const { targets, inFlight } = deletionTurn(seen);
  const due = targets.filter((target) => isDue(target, seen));
  if (due.length === 0) return undefined;
  return {
    actions: [...warningsFor(due, seen), ...due.map((target) => actionFor(target, seen))],
    inFlight,
    isInterim: true,
    outcome: waiting(deleting, observeAgainMs),
    ...reportDeletion(plan, deleting, progressOf(seen)),
  };
}

/** A user has to grant the account its permissions again, or allow the plan to release the objects. */
function refused(seen: DeletionSeen): DeletionVerdict | undefined {
  const failure = deletionTurn(seen)
    .targets.map(({ live }) => seen.refusals.get(live.metadata.uid ?? ""))
    .find((found) => found !== undefined);
  return failure === undefined ? undefined : unauthorized(seen, failure.message);
}

/** Events bring us back as objects go; a reconcile every few seconds is for those that no event reports. */
function underWay(seen: DeletionSeen): DeletionVerdict {
  const { plan, remaining } = seen;
  const [blocker] = deletionTurn(seen).targets.flatMap(blockerOf);
  if (blocker === undefined || remaining.some(({ live }) => seen.requested.has(live.metadata.uid ?? "")))
    return {
      actions: [],
      outcome: waiting(deleting, observeAgainMs),
      ...reportDeletion(plan, deleting, progressOf(seen)),
    };
  const { object, finalizers = [] } = blocker;
  const message = `${describeIdentity(object)} is waiting for its finalizers ${finalizers.join(", ")}.`;
  return blocked(seen, { reason: reasons.deletionBlocked, message });
}

const deleting = { reason: reasons.deleting, message: "Deleting the objects of the plan." };

function blocked(seen: DeletionSeen, why: Why): DeletionVerdict {
  const report = reportDeletion(seen.plan, why, { ...progressOf(seen), isBlocked: true });
  return { actions: [], outcome: waiting(why, observeAgainMs), ...report };
}

function stuck(seen: DeletionSeen, why: Why): DeletionVerdict {
  const report = reportDeletion(seen.plan, why, { ...progressOf(seen), isBlocked: true });
  return { actions: [], outcome: stalled(why, retryMs(unauthorizedMs, seen)), ...report };
}

function unauthorized(seen: DeletionSeen, output: string): DeletionVerdict {
  const { serviceAccountName } = seen.plan.spec;
  const message = `Service account ${serviceAccountName} cannot delete the remaining objects: ${output}; set deletion.ifUnauthorized: Orphan to leave them in the cluster.`;
  return stuck(seen, { reason: reasons.deletionBlocked, message });
}

/** No one has confirmed the account that has the name now: a user has to act. */
function replacedMessage(account: string): string {
  return `Service account ${account} was deleted and recreated, and the new one is not trusted: run qm plan trust, delete the remaining objects yourself, or set deletion.ifUnauthorized: Orphan to leave them in the cluster.`;
}

/** A permission that comes back brings the plan back; the server's own view of permissions follows shortly later. */
function retryMs(usualMs: number, { recentlyChanged }: DeletionSeen): number {
  return recentlyChanged.includes("permissions") ? recheckMs : usualMs;
}

function letGo({ remaining }: DeletionSeen, why: string): DeletionVerdict {
  const names = remaining.slice(0, 10).map(({ identity }) => describeIdentity(identity));
  const warning = `${[...names, "all other remaining objects"].join(", ")} are left in the cluster because ${why}`;
  return { actions: warn({ reason: "Orphaned", warnings: [warning] }), outcome: settled() };
}

/** Neither when the plan has had its time, nor when its namespace goes, which waits for that API on its own. */
function awaitedOf({ unconfirmed, isOverdue, isNamespaceTerminating }: DeletionSeen): readonly Unread[] {
  return isOverdue || isNamespaceTerminating ? [] : unconfirmed;
}

/** Objects that the plan keeps, because others have data in it or because the account may not delete it. */
function warningsFor(due: readonly Candidate[], { refusals }: DeletionSeen): readonly RemovalAction[] {
  const spared = due.flatMap(({ live, protectedBy }) =>
    protectedBy === undefined ? [] : [staysBecause(identityOf(live), protectedBy)],
  );
  const denied = due.flatMap(({ live }) => refusals.get(live.metadata.uid ?? "")?.message ?? []);
  const orphaned = denied.map((output) => `left in the cluster: ${output}`);
  return [
    ...warn({ reason: "Protected", warnings: spared }),
    ...warn({ reason: "Orphaned", warnings: orphaned }),
  ];
}

function progressOf(seen: DeletionSeen): {
  readonly remaining: number;
  readonly blockedBy: readonly Blocker[];
} {
  return {
    remaining: seen.remaining.length + awaitedOf(seen).length,
    blockedBy: deletionTurn(seen).targets.flatMap(blockerOf),
  };
}
