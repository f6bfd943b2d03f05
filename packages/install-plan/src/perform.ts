import { installPlan, type InstallPlan, resourceManifest } from "@quartermaster/api";
import {
  ApiError,
  classify,
  type Client,
  type Context,
  type KubeObject,
  unreachable,
} from "@quartermaster/runtime";
import { jobs } from "@quartermaster/runtime/kinds";

import { asAccount } from "./account/account.ts";
import { applyMember, type ApplyOptions } from "./apply/apply-member.ts";
import { jobObject } from "./jobs/job-object.ts";
import { isOwnJob } from "./jobs/job-view.ts";
import { type Identity, identityKey, identityOf } from "./model/identity.ts";
import { progressFields } from "./model/plan-status.ts";
import { isLasting, NameTakenError, type WriteFailure, writeFailureFrom } from "./model/write-failure.ts";
import { jobFieldManager, releasePatch } from "./ownership/owner-labels.ts";
import type { ActionOf, PlanAction, RemovalAction, Target } from "./plan-action.ts";
import { planMemory } from "./plan-memory.ts";
import { verbsOfActions } from "./plan-metrics.ts";
import { reasons } from "./reasons.ts";
import type { Seen } from "./seen.ts";

export interface PerformScope<S extends Pick<Seen, "plan"> = Pick<Seen, "plan" | "ownerLabels">> {
  readonly seen: S;
  readonly parts: ApplyOptions;
}

/** Carries out an action of a reconcile. What the server refuses for good is remembered: thrown, it would leave the status as it was. */
export async function perform(action: PlanAction, ctx: Context, scope: PerformScope): Promise<void> {
  await remembering(action, { ctx, ...scope }, async () => {
    await carryOut(action, ctx, scope);
  });
}

/** Carries out an action of a deletion. */
export async function performRemoval(
  action: RemovalAction,
  ctx: Context,
  scope: PerformScope<Pick<Seen, "plan">>,
): Promise<void> {
  await remembering(action, { ctx, ...scope }, async () => {
    await remove(action, ctx, asAccount(ctx.client, scope.seen.plan));
  });
}

/** Of the plan's objects and jobs with the permissions of its account, of our own kinds with the operator's. */
async function carryOut(action: PlanAction, ctx: Context, { seen, parts }: PerformScope): Promise<void> {
  const { plan } = seen;
  const account = asAccount(ctx.client, plan);
  switch (action.kind) {
    case "delete":
    case "release":
    case "warn":
      return await remove(action, ctx, account);
    case "apply":
      return await applyMember(action, ctx, { ...parts, ...seen });
    case "createJob":
      return await createJob(jobObject(action.job, seen), plan, account);
    case "deleteJob":
      if (action.job.live !== undefined)
        await deleteExactly({ kind: jobs, live: action.job.live }, account, "Background");
      return;
    case "claimManifest":
      return await claimManifest(action, plan, ctx.client);
    case "forgetPlan":
      return await deleteExactly({ kind: installPlan.kind, live: action.past }, ctx.client);
    case "dropProgress":
      return await unlessChanged(async () => await dropProgress(plan, ctx.client));
    case "reportStage":
      parts.observer?.stagePassed?.(action.tookMs);
      return;
    case "forgetWriteFailures":
      ctx.memory(planMemory).writeFailures.clear();
      return;
    default:
      return unreachable(action);
  }
}

async function remove(action: RemovalAction, ctx: Context, account: Client): Promise<void> {
  switch (action.kind) {
    case "delete":
      return await deleteExactly(action.target, account, action.propagation);
    case "release":
      return await unlessChanged(async () => await release(action.target, account));
    case "warn":
      report(action, ctx);
      return;
    default:
      return unreachable(action);
  }
}

/** Exactly the object that was seen: another one under its name, or one that lost our labels meanwhile, is not ours to delete. */
async function deleteExactly(
  { kind, live: { metadata } }: Target,
  client: Client,
  propagation?: ActionOf<"delete">["propagation"],
): Promise<void> {
  const { uid, resourceVersion } = metadata;
  await client.deleteIfPresent(kind, metadata, {
    propagation,
    preconditions: { uid, resourceVersion },
    skipIfChanged: true,
  });
}

async function release({ kind, live }: Target, account: Client): Promise<void> {
  await account.patch(kind, live.metadata, { patch: { kind: "merge", body: releasePatch(live) } });
}

/** Deleted or changed meanwhile: the next reconcile sees it as it is then. */
async function unlessChanged(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const errorClass = classify(error);
    if (errorClass !== "notFound" && errorClass !== "conflict") throw error;
  }
}

/** One that exists is ours, from before a crash, or of another client that foresaw the name. */
async function createJob(object: KubeObject, plan: InstallPlan, account: Client): Promise<void> {
  const created = await account.createIfAbsent<KubeObject>(jobs, object, { fieldManager: jobFieldManager });
  if (created !== undefined) return;
  const found = await account.find(jobs, object.metadata);
  if (found === undefined || isOwnJob(found, plan)) return;
  const name = `Job ${object.metadata.namespace ?? ""}/${object.metadata.name}`;
  throw new NameTakenError(`${name} already exists and was not created by this plan; delete it.`);
}

/** With the resourceVersion: another plan may be claiming it at the same moment, and the list is replaced as a whole. */
async function claimManifest(
  { manifest }: ActionOf<"claimManifest">,
  { apiVersion, kind, metadata: { name, uid = "" } }: InstallPlan,
  client: Client,
): Promise<void> {
  const { resourceVersion, ownerReferences = [] } = manifest.metadata;
  const body = {
    metadata: { resourceVersion, ownerReferences: [...ownerReferences, { apiVersion, kind, name, uid }] },
  };
  await client.patch(resourceManifest.kind, manifest.metadata, {
    patch: { kind: "merge", body },
    isMetadataEnough: true,
  });
}

/** By a patch of its own: the apply by which the runtime writes a status keeps what others put there. */
async function dropProgress({ metadata }: InstallPlan, client: Client): Promise<void> {
  const { uid, resourceVersion } = metadata;
  const status = Object.fromEntries(progressFields.map((field) => [field, null]));
  await client.patch(installPlan.kind, metadata, {
    // Of a status the server ignores the uid: another plan that has the name by now differs in the version.
    patch: { kind: "merge", body: { metadata: { uid, resourceVersion }, status } },
    subresource: "status",
    isMetadataEnough: true,
  });
}

/** One event for all: a bundle may hold hundreds of copies. */
function report({ reason, warnings }: ActionOf<"warn">, ctx: Context): void {
  const { reported } = ctx.memory(planMemory);
  if (warnings.every((warning) => reported.has(warning))) return;
  for (const warning of warnings) reported.add(warning);
  const rest = warnings.length > warningsShown ? `; and ${warnings.length - warningsShown} more` : "";
  const note = `${warnings.slice(0, warningsShown).join("; ")}${rest}`;
  ctx.events.record({
    type: "Warning",
    reason,
    action: reason === "Orphaned" || reason === "Protected" ? "Orphan" : "Read",
    note: note.slice(0, 1000),
  });
}

const warningsShown = 5;

/** Remembers whether the server refused a write for good. Applies remember it themselves. */
async function remembering(
  action: PlanAction,
  { ctx, seen, parts }: PerformScope<Pick<Seen, "plan">> & { readonly ctx: Context },
  write: () => Promise<void>,
): Promise<void> {
  const identity = objectOf(action, seen.plan);
  if (identity === undefined) {
    await write();
    countWrite(action, parts);
    return;
  }
  const memory = ctx.memory(planMemory);
  const key = identityKey(identity);
  const nowMs = parts.system.monotonicMs();
  try {
    await write();
    countWrite(action, parts);
    memory.writeFailures.delete(key);
    if ("target" in action) memory.noteRequest(action.target.live, nowMs);
  } catch (error) {
    const count = (memory.writeFailures.get(key)?.count ?? 0) + 1;
    memory.writeFailures.set(key, failureOf(error, action, { identity, count, nowMs }));
  }
}

function countWrite({ kind }: PlanAction, { observer }: ApplyOptions): void {
  const verb = verbsOfActions[kind];
  if (verb !== undefined) observer?.wrote?.(verb);
}

/** Objects that are written besides the plan's members and our own kinds. */
function objectOf(action: PlanAction, { metadata: { namespace = "" } }: InstallPlan): Identity | undefined {
  if ("target" in action) return identityOf(action.target.live);
  if (action.kind !== "createJob" && action.kind !== "deleteJob") return undefined;
  return { apiVersion: "batch/v1", kind: "Job", namespace, name: action.job.jobName };
}

/** Throws what may pass without a change. */
function failureOf(
  error: unknown,
  action: PlanAction,
  facts: { readonly identity: Identity; readonly count: number; readonly nowMs: number },
): WriteFailure {
  const uid = "target" in action ? action.target.live.metadata.uid : undefined;
  const tried = { action: action.kind, uid };
  if (error instanceof NameTakenError) {
    const { count, nowMs } = facts;
    const { message } = error;
    const taken = { kind: "collision", reason: reasons.nameTaken, message } as const;
    return { ...tried, ...taken, count, notBeforeMs: nowMs, triedAtMs: nowMs };
  }
  if (!(error instanceof ApiError) || !isLasting(error.class)) throw error;
  return { ...writeFailureFrom(error, facts), ...tried };
}
