import { installPlan, resourceManifest } from "@quartermaster/api";
import { ApiError, classify, type Context, type KubeObject, unreachable } from "@quartermaster/runtime";
import { jobs } from "@quartermaster/runtime/kinds";

import { asAccount } from "./account/as-account.ts";
import { applyMember, type ApplyParts } from "./apply/apply-member.ts";
import { type Identity, identityKey, identityOf } from "./identity.ts";
import { jobObject } from "./jobs/job-object.ts";
import { isOwnJob } from "./jobs/job-view.ts";
import { jobFieldManager, releasePatch } from "./ownership/owner-labels.ts";
import type { PlanAction } from "./plan-action.ts";
import { planMemory } from "./plan-memory.ts";
import { verbsOfActions } from "./plan-observer.ts";
import { progressFields } from "./plan-status.ts";
import { reasons } from "./reasons.ts";
import type { WriteFailure } from "./write-failure.ts";
import { isLasting, NameTakenError, writeFailureFrom } from "./write-failure.ts";

async function performAction(action: PlanAction, ctx: Context, parts: ApplyParts): Promise<void> {
  await carryOut(action, ctx, parts);
  const verb = verbsOfActions[action.kind];
  if (verb !== undefined) parts.observer?.wrote?.(verb);
}

async function carryOut(action: PlanAction, ctx: Context, parts: ApplyParts): Promise<void> {
  switch (action.kind) {
    case "apply":
      await applyMember(action, ctx, parts);
      return;
    case "delete":
      await unlessChanged(async () => await deleteTarget(action, ctx));
      return;
    case "release":
      await unlessChanged(async () => await release(action, ctx));
      return;
    case "createJob":
      await createJob(action, ctx);
      return;
    case "deleteJob":
      await unlessChanged(async () => await deleteJob(action, ctx));
      return;
    case "claimManifest":
      await claimManifest(action, ctx);
      return;
    case "forgetPlan":
      await unlessChanged(async () => await forgetPlan(action, ctx));
      return;
    case "dropProgress":
      await unlessChanged(async () => await dropProgress(action, ctx));
      return;
    case "warn":
      warn(action, ctx);
      return;
    case "reportStage":
      parts.observer?.stagePassed?.(action.tookMs);
      return;
    case "forgetWriteFailures":
      ctx.memory(planMemory).writeFailures.clear();
      return;
    default:
      unreachable(action);
  }
}

type Of<K extends PlanAction["kind"]> = Extract<PlanAction, { readonly kind: K }>;

/** Exactly the object that was seen: another one under its name, or one that lost our labels meanwhile, is not ours to delete. */
function exactly({ metadata: { uid, resourceVersion } }: KubeObject): {
  readonly uid?: string;
  readonly resourceVersion?: string;
} {
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

async function deleteTarget({ plan, target, propagation }: Of<"delete">, ctx: Context): Promise<void> {
  await asAccount(ctx.client, plan).delete(target.kind, target.live.metadata, {
    propagation,
    preconditions: exactly(target.live),
  });
}

async function release({ plan, target }: Of<"release">, ctx: Context): Promise<void> {
  await asAccount(ctx.client, plan).patch(target.kind, target.live.metadata, {
    patch: { kind: "merge", body: releasePatch(target.live) },
  });
}

async function deleteJob({ plan, job }: Of<"deleteJob">, ctx: Context): Promise<void> {
  const { live } = job;
  if (live === undefined) return;
  await asAccount(ctx.client, plan).delete(jobs, live.metadata, {
    propagation: "Background",
    preconditions: exactly(live),
  });
}

/** With the resourceVersion: another plan may be claiming it at the same moment, and the list is replaced as a whole. */
async function claimManifest({ plan, manifest }: Of<"claimManifest">, ctx: Context): Promise<void> {
  const { apiVersion, kind, metadata } = plan;
  const { name, uid = "" } = metadata;
  const { resourceVersion, ownerReferences = [] } = manifest.metadata;
  const body = {
    metadata: { resourceVersion, ownerReferences: [...ownerReferences, { apiVersion, kind, name, uid }] },
  };
  await ctx.client.patch(resourceManifest.kind, manifest.metadata, {
    patch: { kind: "merge", body },
    isMetadataEnough: true,
  });
}

/** With the operator's own permissions: plans are its own kind. */
async function forgetPlan({ past }: Of<"forgetPlan">, ctx: Context): Promise<void> {
  await ctx.client.delete(installPlan.kind, past.metadata, { preconditions: exactly(past) });
}

/** By a patch of its own: the apply by which the runtime writes a status leaves alone what others put there. */
async function dropProgress({ plan: { metadata } }: Of<"dropProgress">, ctx: Context): Promise<void> {
  const { uid, resourceVersion } = metadata;
  const status = Object.fromEntries(progressFields.map((field) => [field, null]));
  await ctx.client.patch(installPlan.kind, metadata, {
    // Of a status the server ignores the uid: another plan that has the name by now is told apart by the version.
    patch: { kind: "merge", body: { metadata: { uid, resourceVersion }, status } },
    subresource: "status",
    isMetadataEnough: true,
  });
}

/** One event for all: a bundle may hold hundreds of copies. */
function warn({ reason, warnings }: Of<"warn">, ctx: Context): void {
  const { told } = ctx.memory(planMemory);
  if (warnings.every((warning) => told.has(warning))) return;
  for (const warning of warnings) told.add(warning);
  const rest = warnings.length > warningsTold ? `; and ${warnings.length - warningsTold} more` : "";
  const note = `${warnings.slice(0, warningsTold).join("; ")}${rest}`;
  ctx.events.record({
    type: "Warning",
    reason,
    action: reason === "Orphaned" || reason === "Protected" ? "Orphan" : "Read",
    note: note.slice(0, 1000),
  });
}

const warningsTold = 5;

/** Gone or changed meanwhile: the next reconcile sees it as it is then. */
async function unlessChanged(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const errorClass = classify(error);
    if (errorClass !== "notFound" && errorClass !== "conflict") throw error;
  }
}

/** There already: ours, from before a crash, or somebody's who foresaw the name. */
async function createJob(action: Of<"createJob">, ctx: Context): Promise<void> {
  const account = asAccount(ctx.client, action.plan);
  const object = jobObject(action);
  try {
    await account.create<KubeObject>(jobs, object, { fieldManager: jobFieldManager });
  } catch (error) {
    if (classify(error) !== "alreadyExists") throw error;
    const found = await account.find(jobs, object.metadata);
    if (found === undefined || isOwnJob(found, action.plan)) return;
    const name = `Job ${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    throw new NameTakenError(`${name} already exists and was not created by this plan; delete it.`, {
      cause: error,
    });
  }
}

/** Carries out an action of a reconcile. What the server refuses for good is remembered: thrown, it would leave the status as it was. */
export async function perform(action: PlanAction, ctx: Context, parts: ApplyParts): Promise<void> {
  const identity = objectOf(action);
  if (identity === undefined || !("plan" in action)) {
    await performAction(action, ctx, parts);
    return;
  }
  const memory = ctx.memory(planMemory);
  const key = identityKey(identity);
  const nowMs = parts.system.monotonicMs();
  try {
    await performAction(action, ctx, parts);
    memory.writeFailures.delete(key);
    if ("target" in action) memory.noteAsked(action.target.live, nowMs);
  } catch (error) {
    const count = (memory.writeFailures.get(key)?.count ?? 0) + 1;
    memory.writeFailures.set(key, failureOf(error, action, { identity, count, nowMs }));
  }
}

/** Throws what may pass by itself. */
function failureOf(
  error: unknown,
  action: PlanAction,
  facts: { readonly identity: Identity; readonly count: number; readonly nowMs: number },
): WriteFailure {
  const uid = "target" in action ? action.target.live.metadata.uid : undefined;
  const tried = { action: action.kind, ...(uid === undefined ? {} : { uid }) };
  if (error instanceof NameTakenError) {
    const { count, nowMs } = facts;
    const { message } = error;
    const said = { kind: "collision", reason: reasons.nameTaken, message } as const;
    return { ...tried, ...said, count, notBeforeMs: nowMs, triedAtMs: nowMs };
  }
  if (!(error instanceof ApiError) || !isLasting(error.class)) throw error;
  return { ...writeFailureFrom(error, facts), ...tried };
}

/** What is written besides the plan's members; applying those notes its failures itself. */
function objectOf(action: PlanAction): Identity | undefined {
  if (action.kind === "delete" || action.kind === "release") return identityOf(action.target.live);
  if (action.kind !== "createJob" && action.kind !== "deleteJob") return undefined;
  const { namespace = "" } = action.plan.metadata;
  return { apiVersion: "batch/v1", kind: "Job", namespace, name: action.job.jobName };
}
