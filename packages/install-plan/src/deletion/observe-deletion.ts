import { type InstallPlan, resourceManifest, type ResourceManifest } from "@quartermaster/api";
import { trueCondition } from "@quartermaster/health";
import { ApiError, type Context, type KubeObject } from "@quartermaster/runtime";
import { type Job, jobs, namespaces, serviceAccounts } from "@quartermaster/runtime/kinds";

import { trustOf } from "../confirmation/confirmation.ts";
import { leavingDependents, plansBeside } from "../dependencies/plans-beside.ts";
import { trackKinds } from "../inventory/member-stores.ts";
import { isOwnJob } from "../jobs/job-view.ts";
import { manifestNames } from "../manifest/content-reader.ts";
import { identityKey, identityOf } from "../model/identity.ts";
import { deletionLastedMs, isOrphaning } from "../model/plan-status.ts";
import type { WriteFailure } from "../model/write-failure.ts";
import type { ObserverOptions } from "../observe.ts";
import { planMemory, type PlanMemory } from "../plan-memory.ts";
import type { WakeIndex } from "../wake/wake-index.ts";
import { type DeletionSeen, isLettingGo } from "./deletion-seen.ts";
import { readRemaining, type RemainingOptions } from "./read-remaining.ts";

export interface DeletionOptions extends ObserverOptions {
  readonly wakeIndex: WakeIndex;
  /** Uids of plans that were seen with the request to orphan. */
  readonly orphanRequests: ReadonlySet<string>;
}

/** Reads what is left of a plan, and what decides about it. */
export async function observeDeletion(
  plan: InstallPlan,
  ctx: Context,
  parts: DeletionOptions,
): Promise<DeletionSeen> {
  const nowMs = parts.system.monotonicMs();
  const memory = ctx.memory(planMemory);
  const recentlyChanged = parts.wakeIndex.recentlyChanged(nowMs);
  const base = {
    plan,
    account: accountOf(plan, ctx),
    isNamespaceTerminating: isNamespaceTerminating(plan, ctx),
    isOrphanRequested: isOrphanRequested(plan, ctx, parts),
    isOverdue: isOverdue(plan, memory, parts),
    recentlyChanged,
    dependents: leavingDependents(plan, plansBeside(plan, ctx)),
  };
  const sinceMs = startOf(ctx, nowMs);
  const leftBehind = isLettingGo(base) ? memory.unreleasable : new Set<string>();
  const left = { ...nothing, ...(await readLeft(plan, ctx, { ...parts, memory, nowMs, leftBehind })) };
  const objects = [...left.remaining.map(({ live }) => live), ...left.runningJobs];
  return {
    ...base,
    ...left,
    refusals: new Map(
      objects.flatMap((live) => {
        const failure = failureOf(live, memory);
        return failure !== undefined && failure.triedAtMs >= sinceMs
          ? [[live.metadata.uid ?? "", failure]]
          : [];
      }),
    ),
    requested: new Set(
      objects.filter((live) => memory.isRequested(live, nowMs)).map(({ metadata }) => metadata.uid ?? ""),
    ),
  };
}

const nothing = { remaining: [], unconfirmed: [], isPending: false, runningJobs: [] };

/** When each reconcile first looked: what was refused before that is tried again, what was refused since is not. */
const starts = new WeakMap<Context, number>();

function startOf(ctx: Context, nowMs: number): number {
  const startMs = starts.get(ctx) ?? nowMs;
  starts.set(ctx, startMs);
  return startMs;
}

type Left = Partial<Pick<DeletionSeen, "remaining" | "unconfirmed" | "isPending" | "runningJobs" | "unseen">>;

async function readLeft(
  plan: InstallPlan,
  ctx: Context,
  parts: DeletionOptions & RemainingOptions,
): Promise<Left> {
  try {
    const left = await readRemaining(plan, ctx, parts);
    const stores = await trackKinds(ctx, [jobs]);
    const isLeft = (job: Job): boolean =>
      isOwnJob(job, plan) && isRunning(job) && !parts.leftBehind.has(job.metadata.uid ?? "");
    return { ...left, runningJobs: stores.list(jobs).filter(isLeft) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.class !== "forbidden") throw error;
    return { unseen: error.message };
  }
}

function isRunning(job: Job): boolean {
  const hasEnded = ["Complete", "Failed"].some((type) => trueCondition(job, type) !== undefined);
  return !hasEnded && job.metadata.deletionTimestamp === undefined;
}

function failureOf(live: KubeObject, memory: PlanMemory): WriteFailure | undefined {
  const failure = memory.writeFailures.get(identityKey(identityOf(live)));
  return failure?.uid === live.metadata.uid ? failure : undefined;
}

function isOrphanRequested(
  plan: InstallPlan,
  ctx: Context,
  { orphanRequests }: Pick<DeletionOptions, "orphanRequests">,
): boolean {
  if (isOrphaning(plan) || orphanRequests.has(plan.metadata.uid ?? "")) return true;
  const { namespace = "" } = plan.metadata;
  const store = ctx.store(resourceManifest.kind);
  return wasOrphaned(
    plan,
    manifestNames(plan).flatMap((name) => store.get({ namespace, name }) ?? []),
  );
}

function isNamespaceTerminating({ metadata }: InstallPlan, ctx: Context): boolean {
  const home = ctx.store(namespaces).get({ name: metadata.namespace ?? "" });
  return home?.metadata.deletionTimestamp !== undefined;
}

/** Whether the deletion has had its time, where the plan says to let go then. */
export function isOverdue(
  plan: InstallPlan,
  memory: PlanMemory,
  { system }: Pick<ObserverOptions, "system">,
): boolean {
  const { timeoutSeconds, onTimeout } = plan.spec.deletion;
  const lastedMs = deletionLastedMs(plan, system.wallMs());
  const elapsedMs = memory.elapsedMs("deletion", system.monotonicMs(), lastedMs);
  return timeoutSeconds > 0 && elapsedMs > timeoutSeconds * 1000 && onTimeout === "Orphan";
}

function accountOf(plan: InstallPlan, ctx: Context): DeletionSeen["account"] {
  const { metadata, spec, status } = plan;
  const ref = { namespace: metadata.namespace ?? "", name: spec.serviceAccountName };
  const found = ctx.follow(serviceAccounts, ref);
  if (found === undefined) return "missing";
  const pinned = status?.serviceAccountUid;
  if (pinned === undefined || pinned === found.metadata.uid) return "present";
  return trustOf(plan, found.metadata.uid, ctx) === "given" ? "present" : "replaced";
}

/**
 * The trace that the garbage collector leaves when it did its part while no operator ran: it took the plan's owner reference off all
 * that had one, and the operator had put one on every manifest before it started the plan. Manifests made since, or with other
 * content than the plan names, are ignored, and a plan whose objects are all inline has no such trace: its deletion is like any other (docs/decisions/0015).
 */
export function wasOrphaned(plan: InstallPlan, manifests: readonly ResourceManifest[]): boolean {
  const { startedAt } = plan.status ?? {};
  if (startedAt === undefined || plan.metadata.deletionTimestamp === undefined) return false;
  const named = digestsOf(plan);
  const claimed = manifests.filter(
    ({ metadata, spec }) =>
      isBefore(metadata.creationTimestamp, startedAt) && named.get(metadata.name) === spec.sha256,
  );
  const isOwned = ({ metadata }: ResourceManifest): boolean =>
    (metadata.ownerReferences ?? []).some(({ uid }) => uid === plan.metadata.uid);
  return claimed.length > 0 && !claimed.some(isOwned);
}

function digestsOf({ spec }: InstallPlan): ReadonlyMap<string, string> {
  const refs = spec.stages.flatMap(({ resources = [] }) =>
    resources.flatMap(({ manifestRef }) => manifestRef ?? []),
  );
  return new Map(refs.map(({ name, sha256 }) => [name, sha256]));
}

function isBefore(time: string | undefined, other: string): boolean {
  return time !== undefined && Date.parse(time) <= Date.parse(other);
}
