import type { InstallPlan } from "@quartermaster/api";
import { fieldOf, type Kind, type KubeObject, listOf } from "@quartermaster/runtime";

import { identityOf } from "../identity.ts";
import type { PlanAction } from "../plan-action.ts";
import type { PlanStatus } from "../progress.ts";
import type { Entry } from "../world/inventory.ts";

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
