import type { InstallPlan } from "@quartermaster/api";
import { ApiError, type CleanUpEnd, type Context, type Outcome, settled } from "@quartermaster/runtime";
import { serviceAccounts } from "@quartermaster/runtime/kinds";

import { describeIdentity } from "../identity.ts";
import { inBatches } from "../in-batches.ts";
import { trackKinds } from "../inventory/member-stores.ts";
import { staysBecause } from "../inventory/protection.ts";
import type { PlanAction, Target } from "../plan-action.ts";
import { deletionLastedMs, hasStarted } from "../progress.ts";
import {
  decideDeletion,
  type DeletionStep,
  endRunningJobs,
  isOrphaning,
  type Remaining,
  turnOf,
} from "./decide-deletion.ts";
import {
  accountReplaced,
  type DeletionProgress,
  orphaned,
  unauthorized,
  underWay,
  unread,
  unseen,
} from "./deletion-report.ts";
import {
  type CleanUpParts,
  type DeletionContext,
  isHomeLeaving,
  isLettingGo,
  leaveBehind,
  leftBehindBy,
  type Refusal,
  refusalOf,
} from "./leave-behind.ts";
import { readRemaining } from "./read-remaining.ts";

/** Deletes what the plan created, according to its lifecycle policy. Works from every phase, and shows what is in its way. */
export async function cleanUpPlan(
  plan: InstallPlan,
  ctx: Context,
  parts: CleanUpParts,
): Promise<Outcome | CleanUpEnd> {
  if (ownsNothing(plan)) return settled();
  try {
    return await takeAway(plan, ctx, parts);
  } catch (error) {
    // What the account is refused does not come here: it is the operator itself that may not see what is left.
    if (!(error instanceof ApiError) || error.class !== "forbidden") throw error;
    return isLettingGo(plan, ctx) ? letGo([], error.message, ctx) : unseen(plan, error.message);
  }
}

async function takeAway(plan: InstallPlan, ctx: Context, parts: CleanUpParts): Promise<Outcome | CleanUpEnd> {
  const silentUntilMs = parts.system.monotonicMs() + silentMs;
  for (;;) {
    const end = await nextEnd(plan, { ctx, parts }, silentUntilMs);
    if (end !== undefined) return end;
  }
}

/** Undefined when the next step can follow at once. */
async function nextEnd(
  plan: InstallPlan,
  { ctx, parts }: DeletionContext,
  silentUntilMs: number,
): Promise<Outcome | CleanUpEnd | undefined> {
  const leftBehind = leftBehindBy(plan, ctx, parts);
  const rest = await readRemaining(plan, ctx, { ...parts, leftBehind });
  const { remaining } = rest;
  const unanswered = isHeldBySilence(plan, { ctx, parts }) ? rest.unanswered : [];
  if (remaining.length + unanswered.length === 0) return settled();
  // Written down before anything is done: the request for it disappears while we work.
  if (isToldFirst(plan, parts)) return orphaned(plan, remaining.length);
  const step = await nextStep({ plan, remaining, leftBehind }, { ctx, parts });
  const progress = { plan, step, remaining, unanswered };
  if (turnOf(remaining) < turnOf(unanswered)) return unread({ ...progress, step: nothing }, unanswered);
  return await takeStep(progress, { ctx, parts }, silentUntilMs);
}

async function takeStep(
  progress: DeletionProgress,
  { ctx, parts }: DeletionContext,
  silentUntilMs: number,
): Promise<Outcome | CleanUpEnd | undefined> {
  const { plan, step, remaining } = progress;
  const fault = accountFault(plan, ctx);
  if (fault !== undefined) return withoutAccount(progress, fault, ctx);
  const { done, refusals } = await carryOut(step, remaining, { ctx, parts });
  const [refusal] = refusals;
  if (refusal !== undefined && !isLettingGo(plan, ctx)) return unauthorized(progress, refusal.said);
  await leaveBehind(refusals, plan, { ctx, parts });
  const { system } = parts;
  const isWorthTelling = step.actions.length === 0 || system.monotonicMs() > silentUntilMs;
  return isWorthTelling || !(await isSeenSoon(done, ctx, system)) ? underWay(progress) : undefined;
}

const nothing: DeletionStep = { actions: [], inFlight: 1, blockedBy: [] };

interface Left {
  readonly plan: InstallPlan;
  readonly remaining: readonly Remaining[];
  readonly leftBehind: ReadonlySet<string>;
}

async function nextStep(
  { plan, remaining, leftBehind }: Left,
  { ctx, parts: { memories, system } }: DeletionContext,
): Promise<DeletionStep> {
  const isLettingAllGo = plan.status?.deletion?.orphan === true || isOverdue(plan, { memories, system });
  const jobsFirst = isLettingAllGo ? undefined : await endRunningJobs(plan, ctx, leftBehind);
  return jobsFirst ?? decideDeletion({ plan, remaining, isReleasing: isLettingAllGo });
}

/** Nothing was ever written, or all that was belongs to the plan's successor. */
function ownsNothing(plan: InstallPlan): boolean {
  return !hasStarted(plan) || plan.status?.phase === "Superseded";
}

function withoutAccount(progress: DeletionProgress, fault: AccountFault, ctx: Context): Outcome | CleanUpEnd {
  const { plan, remaining } = progress;
  const { serviceAccountName } = plan.spec;
  const isMissing = fault === "missing";
  const said = `${serviceAccountName} ${isMissing ? "does not exist" : "was deleted and created again"}`;
  if (isLettingGo(plan, ctx)) return letGo(remaining, said, ctx);
  return isMissing ? unauthorized(progress, said) : accountReplaced(progress);
}

/** What is gone that soon is not worth telling between: each change of a large plan's status is dear. */
const silentMs = 2_000;

/** Whether the watches show within a few seconds what became of the objects. */
async function isSeenSoon(
  actions: readonly PlanAction[],
  ctx: Context,
  system: CleanUpParts["system"],
): Promise<boolean> {
  const targets = actions.flatMap((action) => ("target" in action ? [action.target] : []));
  const stores = await trackKinds(
    ctx,
    targets.map(({ kind }) => kind),
  );
  const isAsBefore = ({ kind, live: { metadata } }: Target): boolean =>
    stores.find(kind, metadata)?.metadata.resourceVersion === metadata.resourceVersion;
  for (let waitedMs = 0; targets.some(isAsBefore); waitedMs += lookMs) {
    if (waitedMs >= momentMs) return false;
    await system.sleep(lookMs, ctx.signal);
  }
  return true;
}

const lookMs = 10;
const momentMs = 500;

function isToldFirst(plan: InstallPlan, { memories }: CleanUpParts): boolean {
  const isWanted = isOrphaning(plan) || memories.of(plan).isOrphaned;
  return isWanted && plan.status?.deletion?.orphan !== true;
}

/** It has had its time, and the plan says to let go then. */
function isOverdue(
  plan: InstallPlan,
  { memories, system }: Pick<CleanUpParts, "memories" | "system">,
): boolean {
  const { timeoutSeconds, onTimeout } = plan.spec.deletion;
  const lastedMs = deletionLastedMs(plan, system.wallMs());
  const elapsedMs = memories.of(plan).elapsedMs("deletion", system.monotonicMs(), lastedMs);
  return timeoutSeconds > 0 && elapsedMs > timeoutSeconds * 1000 && onTimeout === "Orphan";
}

/** Neither when the plan has had its time, nor when its namespace goes, which waits for that API by itself. */
function isHeldBySilence(plan: InstallPlan, { ctx, parts }: DeletionContext): boolean {
  return !isOverdue(plan, parts) && !isHomeLeaving(plan, ctx);
}

type AccountFault = "missing" | "replaced";

/** Only the account that was vouched for counts, by uid: another one of its name may have other permissions. */
function accountFault({ metadata, spec, status }: InstallPlan, ctx: Context): AccountFault | undefined {
  const ref = { namespace: metadata.namespace ?? "", name: spec.serviceAccountName };
  const found = ctx.follow(serviceAccounts, ref);
  if (found === undefined) return "missing";
  const pinned = status?.serviceAccountUid;
  return pinned === undefined || pinned === found.metadata.uid ? undefined : "replaced";
}

/** Does all that can be done now, and reports what the account lacked a permission for. */
async function carryOut(
  { actions, inFlight }: DeletionStep,
  remaining: readonly Remaining[],
  { ctx, parts }: DeletionContext,
): Promise<{ readonly done: readonly PlanAction[]; readonly refusals: readonly Refusal[] }> {
  reportProtected(actions, remaining, ctx);
  const ends = await inBatches(actions, inFlight, async (action) => {
    const said = await refusalOf(action, { ctx, parts });
    return { action, ...(said === undefined ? {} : { said }) };
  });
  return {
    done: ends.flatMap(({ action, said }) => (said === undefined ? [action] : [])),
    refusals: ends.flatMap(({ action, said }) =>
      said === undefined || !("target" in action) ? [] : [{ target: action.target, said }],
    ),
  };
}

/** What the plan leaves behind because others have data in it. */
function reportProtected(
  actions: DeletionStep["actions"],
  remaining: DeletionProgress["remaining"],
  ctx: Context,
): void {
  const released = new Set(
    actions.flatMap((action) => (action.kind === "release" ? [action.target.live] : [])),
  );
  for (const { identity, live, protectedBy } of remaining) {
    if (protectedBy === undefined || !released.has(live)) continue;
    const note = staysBecause(identity, protectedBy);
    ctx.events.record({ type: "Warning", reason: "Protected", action: "Orphan", note });
  }
}

function letGo(remaining: readonly Remaining[], why: string, ctx: Context): Outcome {
  const names = remaining.slice(0, 10).map(({ identity }) => describeIdentity(identity));
  const note = `${[...names, "all other remaining objects"].join(", ")} are left in the cluster because ${why}`;
  ctx.events.record({ type: "Warning", reason: "Orphaned", action: "Orphan", note });
  return settled();
}
