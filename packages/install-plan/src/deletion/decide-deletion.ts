import type { InstallPlan } from "@quartermaster/api";
import { trueCondition } from "@quartermaster/health";
import { type Context, fieldOf, type Kind, type KubeObject, listOf } from "@quartermaster/runtime";
import { type Job, jobs } from "@quartermaster/runtime/kinds";

import { identityOf } from "../identity.ts";
import type { Entry } from "../inventory/inventory.ts";
import { trackKinds } from "../inventory/member-stores.ts";
import { isOwnJob } from "../jobs/job-view.ts";
import type { PlanAction } from "../plan-action.ts";
import type { PlanStatus } from "../progress.ts";

/** An object of the plan, whether or not it is there. */
export interface Unread extends Entry {
  /** An object of a CRD that the plan brought: goes before everything else, while its controller still runs. */
  readonly isCustomResource: boolean;
}

/** An object of the plan that is still there and still has its owner labels. */
export interface Remaining extends Unread {
  readonly kind: Kind;
  readonly live: KubeObject;
  /** Holds what others put there; undefined when nothing speaks against deleting it. */
  readonly protectedBy?: string;
}

/** What a deletion is decided upon. */
export interface DeletionFacts {
  readonly plan: InstallPlan;
  readonly remaining: readonly Remaining[];
  /** `kubectl delete --cascade=orphan`, or the time for deleting has run out. */
  readonly isReleasing: boolean;
}

/** The next step of a deletion. */
export interface DeletionStep {
  readonly actions: readonly PlanAction[];
  readonly inFlight: number;
  readonly blockedBy: NonNullable<NonNullable<PlanStatus["deletion"]>["blockedBy"]>;
}

/**
 * Takes objects away in the reverse of the order in which they were made, a stage at a time: what a later stage needs stays
 * until that stage is gone. What is to be kept loses only its owner labels.
 */
export function decideDeletion({ plan, remaining, isReleasing }: DeletionFacts): DeletionStep {
  const rank = turnOf(remaining);
  const group = remaining.filter((entry) => deletionRank(entry) === rank).toReversed();
  const actions = group
    .filter((entry) => isKept(entry, isReleasing) || entry.live.metadata.deletionTimestamp === undefined)
    .map((entry) => actionFor(entry, plan, isReleasing));
  return {
    actions,
    inFlight: plan.spec.stages[rank]?.concurrency ?? 1,
    blockedBy: group.flatMap(blockerOf),
  };
}

/** The rank of those whose turn it is; -1 when nothing is left. */
export function turnOf(remaining: readonly Unread[]): number {
  return remaining.reduce((highest, entry) => Math.max(highest, deletionRank(entry)), -1);
}

function actionFor(entry: Remaining, plan: InstallPlan, isReleasing: boolean): PlanAction {
  const { kind, live } = entry;
  if (isKept(entry, isReleasing)) return { kind: "release", plan, target: { kind, live } };
  return { kind: "delete", plan, target: { kind, live }, propagation: "Background" };
}

function isKept({ lifecycle, protectedBy }: Remaining, isReleasing: boolean): boolean {
  return isReleasing || lifecycle.cleanup === "Orphan" || protectedBy !== undefined;
}

/** Above all stages: custom resources of the plan's own CRDs. */
const beforeStages = Number.MAX_SAFE_INTEGER;

/** The higher, the sooner it goes. */
export function deletionRank({ stageIndex, isCustomResource }: Unread): number {
  return isCustomResource ? beforeStages : stageIndex;
}

function blockerOf({ identity, live }: Remaining): DeletionStep["blockedBy"] {
  const { deletionTimestamp } = live.metadata;
  const finalizers = finalizersOf(identity, live);
  if (deletionTimestamp === undefined || finalizers.length === 0) return [];
  return [{ object: identityOf(live), finalizers, since: deletionTimestamp }];
}

/** A namespace waits for its content by a finalizer in its spec, and is what hangs most often. */
function finalizersOf({ apiVersion, kind }: Remaining["identity"], live: KubeObject): string[] {
  const { finalizers = [] } = live.metadata;
  if (apiVersion !== "v1" || kind !== "Namespace") return [...finalizers];
  const inSpec = listOf(fieldOf(live, "spec"), "finalizers").filter((name) => typeof name === "string");
  return [...finalizers, ...inSpec];
}

/**
 * Jobs of the plan's stages that still run: they go before what they work with does, or they would make anew what was just
 * deleted. Those that have ended go with the plan. Undefined when none runs.
 */
export async function endRunningJobs(
  plan: InstallPlan,
  ctx: Context,
  leftBehind: ReadonlySet<string>,
): Promise<DeletionStep | undefined> {
  const stores = await trackKinds(ctx, [jobs]);
  const running = stores
    .list(jobs)
    .filter((job) => isOwnJob(job, plan) && isRunning(job) && !leftBehind.has(job.metadata.uid ?? ""));
  if (running.length === 0) return undefined;
  return {
    actions: running.map((live) => ({
      kind: "delete",
      plan,
      target: { kind: jobs, live },
      propagation: "Background",
    })),
    inFlight: 4,
    blockedBy: [],
  };
}

function isRunning(job: Job): boolean {
  const hasEnded = ["Complete", "Failed"].some((type) => trueCondition(job, type) !== undefined);
  return !hasEnded && job.metadata.deletionTimestamp === undefined;
}

/** `kubectl delete --cascade=orphan` leaves this finalizer, until the garbage collector has done its part. */
export function isOrphaning({ metadata }: InstallPlan): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes("orphan");
}
