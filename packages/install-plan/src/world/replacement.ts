import type { InstallPlan } from "@quartermaster/api";

import type { Issue } from "../issue.ts";
import { matchesLabels, parseLabelSelector } from "../manifest/label-selector.ts";
import { planId, type PlanRef } from "../marks.ts";

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
}

/**
 * Who replaces whom among the plans of one namespace. The word of a successor is its own status: it names a plan as
 * `Releasing` before its first write, and writes only when that plan's status names it back.
 */
export function replacementOf(plan: InstallPlan, siblings: readonly InstallPlan[]): Replacement {
  const others = siblings.filter((other) => other.metadata.uid !== plan.metadata.uid);
  const named = namedBy(plan, others);
  const frozen = plan.status?.replaces;
  const chosen: readonly string[] = frozen?.map(({ name }) => name) ?? [
    ...named,
    ...inheritedNames(named, others),
  ];
  const predecessors = [...new Set(chosen)].map((name) => predecessorOf(name, plan, others));
  const successor = successorOf(plan, others);
  return {
    predecessors,
    ...(successor === undefined ? {} : { successor }),
    issues: plan.status?.startedAt === undefined ? issuesOf(plan, others, named) : [],
    late: frozen === undefined ? [] : named.filter((name) => !chosen.includes(name)),
    heirOf: heirOf(plan, predecessors, others),
    revision: plan.status?.revision ?? nextRevision(predecessors),
  };
}

/** What a plan says that it replaces, by name and by selector. A selector does not reach plans that are over. */
function namedBy({ metadata, spec }: InstallPlan, others: readonly InstallPlan[]): readonly string[] {
  const { plans = [], selector } = spec.replaces ?? {};
  const names = plans.map(({ name }) => name);
  if (selector === undefined) return names;
  const requirements = parseLabelSelector(selector);
  if (requirements === undefined) return names;
  const matches = others
    .filter((other) => other.status?.phase !== "Superseded" && matchesLabels(other, requirements))
    .map(({ metadata: { name } }) => name)
    .filter((name) => name !== metadata.name);
  return [...new Set([...names, ...matches.toSorted()])];
}

/** A predecessor that never finished has predecessors of its own, whose objects are still on their way. */
function inheritedNames(names: readonly string[], others: readonly InstallPlan[]): readonly string[] {
  return names.flatMap((name) => {
    const unfinished = planNamed(name, others)?.status?.replaces ?? [];
    return unfinished.filter(({ state }) => state === "Releasing").map((entry) => entry.name);
  });
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
function hasLetGo({ metadata, status }: InstallPlan, heir: InstallPlan): boolean {
  if (status?.startedAt === undefined || status.phase === "Superseded") return true;
  if (metadata.deletionTimestamp !== undefined) return true;
  const heirs = [heir.metadata.uid, ...(heir.status?.replaces ?? []).map(({ uid }) => uid)];
  return status.replacedBy !== undefined && heirs.includes(status.replacedBy.uid);
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

function nextRevision(predecessors: readonly Predecessor[]): number {
  return 1 + Math.max(0, ...predecessors.map(({ plan }) => plan?.status?.revision ?? 0));
}

function issuesOf(
  plan: InstallPlan,
  others: readonly InstallPlan[],
  named: readonly string[],
): readonly Issue[] {
  const { name } = plan.metadata;
  const field = "spec.replaces";
  const isCircular = named.includes(name) || named.some((first) => leadsTo(first, name, others));
  if (isCircular)
    return [
      {
        reason: "ReplaceCycle",
        field,
        message: `Plan ${name} replaces itself by way of ${named.join(", ")}.`,
      },
    ];
  return named.flatMap((wanted) =>
    rivalsFor(wanted, plan, others).map((rival) => ({
      reason: "ReplaceConflict" as const,
      field,
      message: `Plan ${rival} replaces ${wanted} too; delete one of the two.`,
    })),
  );
}

/** Whether following `replaces` from one plan comes to another. */
function leadsTo(from: string, to: string, others: readonly InstallPlan[]): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === to) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    const plan = planNamed(name, others);
    if (plan !== undefined) open.push(...(plan.spec.replaces?.plans ?? []).map((entry) => entry.name));
  }
  return false;
}

/** Others that want the same predecessor, are not over and do not stand in one line with us. */
function rivalsFor(wanted: string, plan: InstallPlan, others: readonly InstallPlan[]): readonly string[] {
  return others
    .filter((other) => other.metadata.deletionTimestamp === undefined && other.status?.phase !== "Superseded")
    .filter((other) => namedBy(other, [plan, ...others]).includes(wanted))
    .filter((other) => !isInLine(other, plan, others))
    .map(({ metadata }) => metadata.name);
}

function isInLine(other: InstallPlan, plan: InstallPlan, others: readonly InstallPlan[]): boolean {
  const all = [plan, ...others];
  return (
    leadsTo(plan.metadata.name, other.metadata.name, all) ||
    leadsTo(other.metadata.name, plan.metadata.name, all)
  );
}

function planNamed(name: string, plans: readonly InstallPlan[]): InstallPlan | undefined {
  return plans.find(({ metadata }) => metadata.name === name);
}

function createdAt({ metadata }: InstallPlan): string {
  return metadata.creationTimestamp ?? "";
}
