import type { InstallPlan } from "@quartermaster/api";
import { ApiError, type CleanUpEnd, type Context, type Outcome, settled } from "@quartermaster/runtime";

import { describeIdentity } from "../identity.ts";
import { inBatches } from "../in-batches.ts";
import type { ApplyParts } from "../perform/apply-member.ts";
import { performAction } from "../perform/performer.ts";
import type { Target } from "../plan-action.ts";
import { deletionLastedMs, hasStarted } from "../progress.ts";
import { namespaces, serviceAccounts } from "../world/kinds.ts";
import { trackKinds } from "../world/member-stores.ts";
import type { ObserverParts } from "../world/observe-plan.ts";
import { decideDeletion, type DeletionStep, type Remaining } from "./decide-deletion.ts";
import { orphaned, type Plight, unauthorized, underWay, unseen } from "./deletion-report.ts";
import { endRunningJobs } from "./end-jobs.ts";
import { isOrphaning } from "./orphaning.ts";
import { readRemaining } from "./read-remaining.ts";

/** What cleaning up needs besides the pass. */
export type CleanUpParts = ObserverParts & ApplyParts;

/** Takes away what the plan made, as its knobs say. Works from every phase, and shows what is in its way. */
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
  const { system } = parts;
  const silentUntilMs = system.monotonicMs() + silentMs;
  for (;;) {
    const remaining = await readRemaining(plan, ctx, parts);
    if (remaining.length === 0) return settled();
    // Written down before anything is done: what told of it goes while we work.
    if (isToldFirst(plan, parts)) return orphaned(plan, remaining.length);
    const step = await nextStep(plan, remaining, { ctx, parts });
    const plight = { plan, step, remaining };
    const refusal = accountFault(plan, ctx) ?? (await carryOut(step, remaining, { ctx, parts }));
    if (refusal !== undefined) return refused(plight, refusal, ctx);
    const isWorthTelling = step.actions.length === 0 || system.monotonicMs() > silentUntilMs;
    if (isWorthTelling || !(await isSeenSoon(step.actions, ctx, system))) return underWay(plight);
  }
}

async function nextStep(
  plan: InstallPlan,
  remaining: readonly Remaining[],
  { ctx, parts: { memories, system } }: Hands,
): Promise<DeletionStep> {
  const lastedMs = deletionLastedMs(plan, system.wallMs());
  const elapsedMs = memories.of(plan).elapsedMs("deletion", system.monotonicMs(), lastedMs);
  const isLettingAllGo = isReleasing(plan, elapsedMs);
  const jobsFirst = isLettingAllGo ? undefined : await endRunningJobs(plan, ctx);
  return jobsFirst ?? decideDeletion({ plan, remaining, isReleasing: isLettingAllGo });
}

/** Nothing was ever written, or all that was belongs to the plan's successor. */
function ownsNothing(plan: InstallPlan): boolean {
  return !hasStarted(plan) || plan.status?.phase === "Superseded";
}

function refused(plight: Plight, refusal: string, ctx: Context): Outcome | CleanUpEnd {
  return isLettingGo(plight.plan, ctx)
    ? letGo(plight.remaining, refusal, ctx)
    : unauthorized(plight, refusal);
}

/** What is gone that soon is not worth telling between: each change of a large plan's status is dear. */
const silentMs = 2_000;

/** Whether the watches show within a moment what became of the objects. */
async function isSeenSoon(
  actions: DeletionStep["actions"],
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

/** As the plan's deletion was asked for, or because it has had its time and the plan says so. */
function isReleasing({ spec, status }: InstallPlan, elapsedMs: number): boolean {
  const { timeoutSeconds, onTimeout } = spec.deletion;
  const isLate = timeoutSeconds > 0 && elapsedMs > timeoutSeconds * 1000;
  return status?.deletion?.orphan === true || (isLate && onTimeout === "Orphan");
}

/** Without its account a plan can delete nothing. */
function accountFault({ metadata, spec }: InstallPlan, ctx: Context): string | undefined {
  const ref = { namespace: metadata.namespace ?? "", name: spec.serviceAccountName };
  return ctx.follow(serviceAccounts, ref) === undefined ? `${ref.name} does not exist` : undefined;
}

/** The plan says so, or its whole namespace goes and it must not hold that up. */
function isLettingGo({ metadata, spec }: InstallPlan, ctx: Context): boolean {
  const home = ctx.store(namespaces).get({ name: metadata.namespace ?? "" });
  return spec.deletion.ifUnauthorized === "Orphan" || home?.metadata.deletionTimestamp !== undefined;
}

interface Hands {
  readonly ctx: Context;
  readonly parts: CleanUpParts;
}

/** Does all that can be done now. What the server said where the account lacks a right; undefined when it lacked none. */
async function carryOut(
  { actions, inFlight }: DeletionStep,
  remaining: readonly Remaining[],
  { ctx, parts }: Hands,
): Promise<string | undefined> {
  tellProtected(actions, remaining, ctx);
  const refusals = await inBatches(actions, inFlight, async (action) => {
    try {
      await performAction(action, ctx, parts);
      return undefined;
    } catch (error) {
      if (error instanceof ApiError && error.class === "forbidden") return error.message;
      throw error;
    }
  });
  return refusals.find((refusal) => refusal !== undefined);
}

/** What the plan leaves behind because others have data in it. */
function tellProtected(actions: DeletionStep["actions"], remaining: Plight["remaining"], ctx: Context): void {
  const released = new Set(
    actions.flatMap((action) => (action.kind === "release" ? [action.target.live] : [])),
  );
  for (const { identity, live, protectedBy } of remaining) {
    if (protectedBy === undefined || !released.has(live)) continue;
    const note = `${describeIdentity(identity)} stays: ${protectedBy}.`;
    ctx.events.record({ type: "Warning", reason: "Protected", action: "Orphan", note });
  }
}

function letGo(remaining: readonly Remaining[], why: string, ctx: Context): Outcome {
  const names = remaining.slice(0, 10).map(({ identity }) => describeIdentity(identity));
  const note = `${[...names, "all else that is left"].join(", ")} stay behind, because ${why}`;
  ctx.events.record({ type: "Warning", reason: "Orphaned", action: "Orphan", note });
  return settled();
}
