import type { InstallPlan } from "@quartermaster/api";

import type { Issue } from "../issue.ts";
import { planId, type PlanRef } from "../marks.ts";
import { hasStarted } from "../progress.ts";
import { replacementIssues } from "./replacement-issues.ts";
import { fixedSet, leadsTo, namedBy, planNamed, wantedBy } from "./replacement-wishes.ts";

/** A plan that this one replaces. */
export interface Predecessor {
  readonly name: string;
  readonly uid: string;
  /** Undefined once it is gone. */
  readonly plan?: InstallPlan;
  /** What our own status says of it; `Releasing` is the word that makes it stand back. */
  readonly state: "Pending" | "Releasing" | "Superseded" | "Gone";
  /** It has confirmed that it touches nothing any more, or there is nothing of it left that could. */
  readonly hasLetGo: boolean;
}

/** The plan that replaces this one. */
export interface Successor {
  readonly name: string;
  readonly uid: string;
  readonly isDone: boolean;
}

/** How a plan stands to those before and after it. */
export interface Replacement {
  readonly predecessors: readonly Predecessor[];
  readonly successor?: Successor;
  readonly issues: readonly Issue[];
  /** Plans that match the selector but came after the set was fixed: they are not swallowed. */
  readonly late: readonly string[];
  /** Ids of the plans whose objects this one takes over. */
  readonly heirOf: ReadonlySet<string>;
  readonly revision: number;
  /** Plans that are over and led to this one, the latest first. */
  readonly history: readonly InstallPlan[];
}

/**
 * Who replaces whom among the plans of one namespace. The word of a successor is its own status: it names a plan as
 * `Releasing` before its first write, and writes only when that plan's status names it back.
 */
export function replacementOf(plan: InstallPlan, siblings: readonly InstallPlan[]): Replacement {
  const others = siblings.filter((other) => other.metadata.uid !== plan.metadata.uid);
  const chosen = fixedSet(plan)?.map(({ name }) => name) ?? wantedBy(plan, others);
  const predecessors = chosen.map((name) => predecessorOf(name, plan, others));
  const successor = successorOf(plan, others);
  return {
    predecessors,
    ...(successor === undefined ? {} : { successor }),
    issues: hasStarted(plan) ? [] : replacementIssues(plan, others),
    late: lateFor(plan, others),
    heirOf: heirOf(plan, predecessors, others),
    history: historyOf(plan, others),
    revision: plan.status?.revision ?? nextRevision(predecessors),
  };
}

/** Those that match only now; not those that come to replace the plan itself. */
function lateFor(plan: InstallPlan, others: readonly InstallPlan[]): readonly string[] {
  const fixed = fixedSet(plan);
  if (fixed === undefined) return [];
  const all = [plan, ...others];
  return namedBy(plan, others)
    .filter((name) => !fixed.some((entry) => entry.name === name))
    .filter((name) => !leadsTo(name, plan.metadata.name, all));
}

function predecessorOf(name: string, plan: InstallPlan, others: readonly InstallPlan[]): Predecessor {
  const entry = plan.status?.replaces?.find((known) => known.name === name);
  const found = planNamed(name, others);
  const foundUid = found?.metadata.uid ?? "";
  const { uid = foundUid, state = "Pending" } = entry ?? {};
  // Another plan under the name of one that is gone is not the one that was meant.
  if (found === undefined || foundUid !== uid) return { name, uid, state: "Gone", hasLetGo: true };
  return { name, uid, plan: found, state, hasLetGo: hasLetGo(found, plan) };
}

/** One that never wrote, is over, is leaving, or has named the heir, or another that the heir replaces, as its successor. */
function hasLetGo(plan: InstallPlan, heir: InstallPlan): boolean {
  const { metadata, status } = plan;
  if (!hasStarted(plan) || status?.phase === "Superseded") return true;
  if (metadata.deletionTimestamp !== undefined) return true;
  const heirs = [heir.metadata.uid, ...(heir.status?.replaces ?? []).map(({ uid }) => uid)];
  return status?.replacedBy !== undefined && heirs.includes(status.replacedBy.uid);
}

function successorOf(plan: InstallPlan, others: readonly InstallPlan[]): Successor | undefined {
  const claims = others.flatMap((other) => {
    const entry = other.status?.replaces?.find(({ uid }) => uid === plan.metadata.uid);
    const isLeaving = other.metadata.deletionTimestamp !== undefined;
    if (entry === undefined || (isLeaving && entry.state !== "Superseded")) return [];
    if (entry.state !== "Releasing" && entry.state !== "Superseded") return [];
    const { name, uid = "" } = other.metadata;
    return [{ name, uid, isDone: entry.state === "Superseded", since: createdAt(other) }];
  });
  const [first] = claims.toSorted(
    (one, other) => Number(other.isDone) - Number(one.isDone) || one.since.localeCompare(other.since),
  );
  if (first === undefined) return undefined;
  const { name, uid, isDone } = first;
  return { name, uid, isDone };
}

/** Those before us; and those after us that gave up or went away with objects of ours in their hands. */
function heirOf(
  plan: InstallPlan,
  predecessors: readonly Predecessor[],
  others: readonly InstallPlan[],
): ReadonlySet<string> {
  const returned = others.filter((other) =>
    other.status?.replaces?.some(({ uid, state }) => uid === plan.metadata.uid && state === "Pending"),
  );
  const { namespace = "" } = plan.metadata;
  const { replacedBy } = plan.status ?? {};
  const refs: readonly PlanRef[] = [
    ...predecessors,
    ...returned.map(({ metadata }) => metadata),
    ...(replacedBy === undefined ? [] : [replacedBy]),
  ];
  return new Set(refs.map(({ name, uid = "" }) => planId({ namespace, name, uid })));
}

/** Followed back by the word of each on who replaced it. */
function historyOf(plan: InstallPlan, others: readonly InstallPlan[]): readonly InstallPlan[] {
  const over = others.filter(({ status }) => status?.phase === "Superseded");
  const line = new Set([plan.metadata.uid]);
  for (let size = 0; size < line.size;) {
    size = line.size;
    for (const { metadata, status } of over) if (line.has(status?.replacedBy?.uid)) line.add(metadata.uid);
  }
  return over
    .filter(({ metadata }) => line.has(metadata.uid))
    .toSorted(
      (one, other) =>
        (other.status?.revision ?? 0) - (one.status?.revision ?? 0) ||
        createdAt(other).localeCompare(createdAt(one)),
    );
}

function nextRevision(predecessors: readonly Predecessor[]): number {
  return 1 + Math.max(0, ...predecessors.map(({ plan }) => plan?.status?.revision ?? 0));
}

function createdAt({ metadata }: InstallPlan): string {
  return metadata.creationTimestamp ?? "";
}
