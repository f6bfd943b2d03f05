import { fieldOf, type KubeObject, listOf } from "@quartermaster/runtime";
import { jobs } from "@quartermaster/runtime/kinds";

import { identityOf } from "../model/identity.ts";
import type { RemovalAction, Target } from "../plan-action.ts";
import type { Blocker } from "./deletion-report.ts";
import { type DeletionSeen, isLettingGo, type Unread } from "./deletion-seen.ts";

/** Everything loses its owner labels and stays. */
function isReleasingAll({ plan, isOverdue }: DeletionSeen): boolean {
  return plan.status?.deletion?.orphan === true || isOverdue;
}

/** An object whose turn it is. */
export interface Candidate extends Target {
  readonly isKept: boolean;
  readonly protectedBy?: string | undefined;
}

/** The objects whose turn it is, and how many are dealt with at a time. */
export function deletionTurn(seen: DeletionSeen): {
  readonly targets: readonly Candidate[];
  readonly inFlight: number;
} {
  const { plan, remaining, runningJobs } = seen;
  const isReleasing = isReleasingAll(seen);
  if (!isReleasing && runningJobs.length > 0)
    return { targets: runningJobs.map((live) => ({ kind: jobs, live, isKept: false })), inFlight: 4 };
  const rank = turnOf(remaining);
  const targets = remaining
    .filter((entry) => deletionRank(entry) === rank)
    .toReversed()
    .map(({ kind, live, lifecycle, protectedBy }) => ({
      kind,
      live,
      isKept: isReleasing || lifecycle.cleanup === "Orphan" || protectedBy !== undefined,
      protectedBy,
    }));
  return { targets, inFlight: plan.spec.stages[rank]?.concurrency ?? 1 };
}

/** Neither requested already, nor going already, nor refused just now. */
export function isDue({ live, isKept }: Candidate, seen: DeletionSeen): boolean {
  const { uid = "", deletionTimestamp } = live.metadata;
  if (seen.requested.has(uid) || (!isKept && deletionTimestamp !== undefined)) return false;
  const failure = seen.refusals.get(uid);
  return failure === undefined || (failure.action === "delete" && isLettingGo(seen));
}

export function actionFor({ kind, live, isKept }: Candidate, { refusals }: DeletionSeen): RemovalAction {
  const target = { kind, live };
  const isRefused = refusals.has(live.metadata.uid ?? "");
  if (isKept || isRefused) return { kind: "release", target };
  return { kind: "delete", target, propagation: "Background" };
}

/** The rank of those whose turn it is; -1 when nothing is left. */
export function turnOf(remaining: readonly Unread[]): number {
  return remaining.reduce((highest, entry) => Math.max(highest, deletionRank(entry)), -1);
}

/** Above all stages: custom resources of the plan's own CRDs. */
const beforeStages = Number.MAX_SAFE_INTEGER;

/** The higher, the sooner it goes. */
export function deletionRank({ stageIndex, isCustomResource }: Unread): number {
  return isCustomResource ? beforeStages : stageIndex;
}

export function blockerOf({ live }: Target): readonly Blocker[] {
  const { deletionTimestamp } = live.metadata;
  const finalizers = finalizersOf(live);
  if (deletionTimestamp === undefined || finalizers.length === 0) return [];
  return [{ object: identityOf(live), finalizers, since: deletionTimestamp }];
}

/** A namespace waits for its content by a finalizer in its spec, and is what hangs most often. */
function finalizersOf(live: KubeObject): string[] {
  const { finalizers = [] } = live.metadata;
  if (live.apiVersion !== "v1" || live.kind !== "Namespace") return [...finalizers];
  const inSpec = listOf(fieldOf(live, "spec"), "finalizers").filter((name) => typeof name === "string");
  return [...finalizers, ...inSpec];
}
