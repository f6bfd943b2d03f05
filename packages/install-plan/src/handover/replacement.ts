import type { InstallPlan } from "@quartermaster/api";

import { parseLabelSelector } from "../manifest/transformation-problems.ts";
import type { Issue } from "../model/issue.ts";
import { hasStarted, isRolledBack } from "../model/plan-status.ts";
import { planId, type PlanRef } from "../ownership/owner-labels.ts";
import { fixedSet, PlanGraph } from "./plan-graph.ts";
import {
  leadingTo,
  namedBy,
  reachedFrom,
  replacesLimit,
  wantedBy,
  wantedSlots,
  wanting,
} from "./wanted-by.ts";

/** A plan that this one replaces. */
export interface Predecessor {
  readonly name: string;
  readonly uid: string;
  /** Undefined once it no longer exists. */
  readonly plan?: InstallPlan | undefined;
  /** State in our own status; `Releasing` requests the handover. */
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

/** How a plan relates to those before and after it. */
export interface Replacement {
  readonly predecessors: readonly Predecessor[];
  readonly successor?: Successor | undefined;
  readonly issues: readonly Issue[];
  /** Plans that match the selector but came after the set was fixed: they are not swallowed. */
  readonly late: readonly string[];
  /** Ids of the plans whose objects this one takes over. */
  readonly takesOverFrom: ReadonlySet<string>;
  readonly revision: number;
  /** Plans that are over and led to this one, the latest first. */
  readonly history: readonly InstallPlan[];
}

/**
 * Who replaces whom among the plans of one namespace. The word of a successor is its own status: it names a plan as
 * `Releasing` before its first write, and writes only when that plan's status names it back.
 */
export function replacementOf(plan: InstallPlan, siblings: PlanGraph | readonly InstallPlan[]): Replacement {
  const graph = siblings instanceof PlanGraph ? siblings : new PlanGraph(siblings);
  graph.put(plan);
  const wanted = fixedSet(plan)?.map(({ name }) => name) ?? wantedBy(plan, graph);
  // Too many are an issue of the plan; nothing is looked up for them.
  const chosen = wanted.length > replacesLimit ? [] : wanted;
  const predecessors = chosen.map((name) => predecessorOf(name, plan, graph));
  const successor = successorOf(plan, graph);
  return {
    predecessors,
    successor,
    issues: hasStarted(plan) ? [] : replacementIssues(plan, graph),
    late: lateFor(plan, graph),
    takesOverFrom: takesOverFrom(plan, predecessors, graph),
    history: historyOf(plan, graph),
    revision: plan.status?.revision ?? nextRevision(predecessors),
  };
}

/** Those that match only now; not those that come to replace the plan itself. */
function lateFor(plan: InstallPlan, graph: PlanGraph): readonly string[] {
  const fixed = fixedSet(plan);
  if (fixed === undefined) return [];
  const late = namedBy(plan, graph).filter((name) => !fixed.some((entry) => entry.name === name));
  if (late.length === 0) return [];
  const leading = leadingTo(graph.slotOf(plan.metadata.name), graph);
  return late.filter((name) => !leading.has(graph.slotOf(name)));
}

function predecessorOf(name: string, plan: InstallPlan, graph: PlanGraph): Predecessor {
  const entry = plan.status?.replaces?.find((known) => known.name === name);
  const found = otherNamed(name, plan, graph);
  const foundUid = found?.metadata.uid ?? "";
  const { uid = foundUid, state = "Pending" } = entry ?? {};
  // Another plan under the name of one that no longer exists is not the one that was meant.
  if (found === undefined || foundUid !== uid) return { name, uid, state: "Gone", hasLetGo: true };
  return { name, uid, plan: found, state, hasLetGo: hasLetGo(found, plan) };
}

function otherNamed(name: string, plan: InstallPlan, graph: PlanGraph): InstallPlan | undefined {
  return name === plan.metadata.name ? undefined : graph.planNamed(name);
}

/** One that never wrote, is over, is leaving, or has named the successor, or another that the successor replaces, as its successor. */
function hasLetGo(plan: InstallPlan, successor: InstallPlan): boolean {
  const { metadata, status } = plan;
  if (!hasStarted(plan) || status?.phase === "Superseded") return true;
  if (metadata.deletionTimestamp !== undefined) return true;
  const successors = [successor.metadata.uid, ...(successor.status?.replaces ?? []).map(({ uid }) => uid)];
  return status?.replacedBy !== undefined && successors.includes(status.replacedBy.uid);
}

function successorOf(plan: InstallPlan, graph: PlanGraph): Successor | undefined {
  const claims = claimantsOf(plan, graph).flatMap((other) => {
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

/** Other plans whose status names this very one as a predecessor. */
function claimantsOf({ metadata: { uid } }: InstallPlan, graph: PlanGraph): readonly InstallPlan[] {
  return graph.claimantsOf(uid).filter(({ metadata }) => metadata.uid !== uid);
}

/** Those before us; and those after us that gave up or went away with objects of ours in their hands. */
function takesOverFrom(
  plan: InstallPlan,
  predecessors: readonly Predecessor[],
  graph: PlanGraph,
): ReadonlySet<string> {
  const returned = claimantsOf(plan, graph).filter((other) =>
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
function historyOf(plan: InstallPlan, graph: PlanGraph): readonly InstallPlan[] {
  const line = new Set<InstallPlan>();
  const open: (string | undefined)[] = [plan.metadata.uid];
  while (open.length > 0) {
    for (const before of graph.ancestorsOf(open.pop())) {
      if (before.metadata.uid === plan.metadata.uid || line.has(before)) continue;
      line.add(before);
      open.push(before.metadata.uid);
    }
  }
  return [...line].toSorted(
    (one, other) =>
      (other.status?.revision ?? 0) - (one.status?.revision ?? 0) ||
      createdAt(other).localeCompare(createdAt(one)) ||
      one.metadata.name.localeCompare(other.metadata.name),
  );
}

function nextRevision(predecessors: readonly Predecessor[]): number {
  return 1 + Math.max(0, ...predecessors.map(({ plan }) => plan?.status?.revision ?? 0));
}

function createdAt({ metadata }: InstallPlan): string {
  return metadata.creationTimestamp ?? "";
}

/**
 * Message about plans that `spec.replaces.plans` names and that did not exist when the plan began; undefined if there are none. The
 * plan continues without them: in a new cluster the plan that it once replaced never comes.
 */
export function describeNeverThere({ predecessors }: Pick<Replacement, "predecessors">): string | undefined {
  const names = predecessors
    .filter(({ state, uid }) => state === "Gone" && uid === "")
    .map(({ name }) => name);
  if (names.length === 0) return undefined;
  return `Nothing is taken over from ${some(names)}: spec.replaces.plans names what did not exist when this plan started.`;
}

/** Message of a plan that is installed and ready, the same in the reconcile that finishes it and in all later ones. */
export function installedMessage(replacement: Pick<Replacement, "predecessors">): string {
  return ["Everything is installed and ready.", describeNeverThere(replacement) ?? []].flat().join(" ");
}

/** Names in one message, and rivals that are reported: the first ones say enough, and more of them change nothing. */
const namesShown = 3;
const rivalsShown = 10;

/** Problems of what a plan replaces, before it has begun. */
function replacementIssues(plan: InstallPlan, graph: PlanGraph): readonly Issue[] {
  const { name } = plan.metadata;
  const field = "spec.replaces";
  const { selector } = plan.spec.replaces ?? {};
  if (selector !== undefined && parseLabelSelector(selector) === undefined)
    return [
      {
        reason: "InvalidReplaces",
        field: `${field}.selector`,
        message: "The selector must be a non-empty label selector.",
      },
    ];
  const named = namedBy(plan, graph);
  const own = graph.slotOf(name);
  const starts = named.map((first) => graph.slotOf(first));
  if (named.length > 0 && reachedFrom(starts, graph).has(own))
    return [
      { reason: "ReplaceCycle", field, message: `Plan ${name} replaces itself by way of ${some(named)}.` },
    ];
  const wanted = wantedBy(plan, graph);
  if (wanted.length > replacesLimit)
    return [
      {
        reason: "InvalidReplaces",
        field,
        message: `Plan ${name} would take over from more than ${replacesLimit} plans; list fewer plans or narrow the selector.`,
      },
    ];
  return conflicts(wanted, plan, graph).map(({ rival, predecessor }) => ({
    reason: "ReplaceConflict" as const,
    field,
    message: `Plan ${rival} replaces ${predecessor} too; delete one of the two.`,
  }));
}

interface Conflict {
  readonly rival: string;
  readonly predecessor: string;
}

function conflicts(wanted: readonly string[], plan: InstallPlan, graph: PlanGraph): readonly Conflict[] {
  if (wanted.length === 0) return [];
  const rivals = rivalsFor(wanted, plan, graph).map((rival) => ({
    name: rival.metadata.name,
    wants: wantedSlots(rival, graph),
  }));
  return wanted.flatMap((predecessor) =>
    rivals
      .filter(({ wants }) => wants.has(graph.slotOf(predecessor)))
      .map(({ name }) => ({ rival: name, predecessor })),
  );
}

/** Others that want a same predecessor, are not over, have not given it back and do not stand in one line with us. */
function rivalsFor(wanted: readonly string[], plan: InstallPlan, graph: PlanGraph): readonly InstallPlan[] {
  const own = graph.slotOf(plan.metadata.name);
  const slots = wanted.map((name) => graph.slotOf(name));
  const [after, before] = [leadingTo(own, graph), reachedFrom([own], graph)];
  const rivals: InstallPlan[] = [];
  for (const slot of wanting(slots, graph).values()) {
    const other = graph.planAt(slot);
    if (other === undefined || after.has(slot) || before.has(slot)) continue;
    if (other.metadata.deletionTimestamp !== undefined || other.status?.phase === "Superseded") continue;
    if (isRolledBack(other)) continue;
    rivals.push(other);
    if (rivals.length === rivalsShown) break;
  }
  return rivals;
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, namesShown).join(", ");
  return names.length > namesShown ? `${shown} and others` : shown;
}
