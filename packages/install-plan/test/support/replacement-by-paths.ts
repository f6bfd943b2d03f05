import type { InstallPlan } from "@quartermaster/api";

import { matchesLabels, parseLabelSelector } from "../../src/manifest/transformation-problems.ts";
import type { Issue } from "../../src/model/issue.ts";
import { hasStarted, isInstalled, isRolledBack } from "../../src/model/plan-status.ts";

/**
 * Who replaces whom, found by walking along every path: exponential, but plain enough to be sure of. The replacement graph is
 * compared with it on small sets of plans.
 */
export function replacementByPaths(
  plan: InstallPlan,
  siblings: readonly InstallPlan[],
): {
  readonly names: readonly string[];
  readonly issues: readonly Issue[];
  readonly late: readonly string[];
} {
  const others = siblings.filter((other) => other.metadata.uid !== plan.metadata.uid);
  return {
    names: fixedSet(plan)?.map(({ name }) => name) ?? wantedBy(plan, others),
    issues: plan.status?.startedAt === undefined ? replacementIssues(plan, others) : [],
    late: lateFor(plan, others),
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

/** Problems of what a plan replaces, before it has begun. */
function replacementIssues(plan: InstallPlan, others: readonly InstallPlan[]): readonly Issue[] {
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
  const all = [plan, ...others];
  const named = namedBy(plan, others);
  const isCircular = named.includes(name) || named.some((first) => leadsTo(first, name, all));
  if (isCircular)
    return [
      {
        reason: "ReplaceCycle",
        field,
        message: `Plan ${name} replaces itself by way of ${named.join(", ")}.`,
      },
    ];
  return wantedBy(plan, others).flatMap((wanted) =>
    rivalsFor(wanted, plan, others).map((rival) => ({
      reason: "ReplaceConflict" as const,
      field,
      message: `Plan ${rival} replaces ${wanted} too; delete one of the two.`,
    })),
  );
}

/** Others that want the same predecessor, are not over, have not given it back and do not stand in one line with us. */
function rivalsFor(wanted: string, plan: InstallPlan, others: readonly InstallPlan[]): readonly string[] {
  const all = [plan, ...others];
  return others
    .filter((other) => other.metadata.deletionTimestamp === undefined && other.status?.phase !== "Superseded")
    .filter((other) => !isRolledBack(other) && wantedBy(other, all).includes(wanted))
    .filter((other) => !isInLine(other.metadata.name, plan.metadata.name, all))
    .map(({ metadata }) => metadata.name);
}

function isInLine(one: string, other: string, all: readonly InstallPlan[]): boolean {
  return leadsTo(one, other, all) || leadsTo(other, one, all);
}

type Entries = NonNullable<NonNullable<InstallPlan["status"]>["replaces"]>;

/** The plans that a plan declared to take over from before its first write: no one joins them later. Undefined before that. */
function fixedSet(plan: InstallPlan): Entries | undefined {
  return plan.status?.replaces ?? (hasStarted(plan) ? [] : undefined);
}

/** Plans that a plan replaces by its spec, by name and by selector. A selector does not reach plans that are over. */
function namedBy({ metadata, spec }: InstallPlan, plans: readonly InstallPlan[]): readonly string[] {
  const { plans: entries = [], selector } = spec.replaces ?? {};
  const names = entries.map(({ name }) => name);
  const requirements = selector === undefined ? undefined : parseLabelSelector(selector);
  if (requirements === undefined) return names;
  const matches = plans
    .filter((other) => other.status?.phase !== "Superseded" && matchesLabels(other, requirements))
    .map(({ metadata: { name } }) => name)
    .filter((name) => name !== metadata.name);
  return [...new Set([...names, ...matches.toSorted()])];
}

/**
 * Names of all plans that a plan takes over from. A predecessor that never finished, or never began, has predecessors of its
 * own, whose objects are still on their way: a client that takes its place takes them over too.
 */
function wantedBy(
  plan: InstallPlan,
  plans: readonly InstallPlan[],
  seen: ReadonlySet<string> = new Set(),
): readonly string[] {
  const fixed = fixedSet(plan);
  if (fixed !== undefined) return fixed.filter((entry) => isMeant(entry, plans)).map(({ name }) => name);
  const named = namedBy(plan, plans);
  const met = new Set([...seen, plan.metadata.name]);
  const inherited = named
    .filter((name) => !met.has(name))
    .flatMap((name) => unfinishedOf(planNamed(name, plans), plans, met));
  return [...new Set([...named, ...inherited])].filter((name) => !seen.has(name));
}

function unfinishedOf(
  plan: InstallPlan | undefined,
  plans: readonly InstallPlan[],
  seen: ReadonlySet<string>,
): readonly string[] {
  if (plan === undefined || isInstalled(plan) || plan.status?.phase === "Superseded") return [];
  const fixed = fixedSet(plan);
  if (fixed === undefined) return wantedBy(plan, plans, seen);
  return fixed.filter(({ state }) => state === "Releasing" || state === "Pending").map(({ name }) => name);
}

/** Another plan under the name of one that no longer exists is not the one that was meant. */
function isMeant({ name, uid }: Entries[number], plans: readonly InstallPlan[]): boolean {
  const found = planNamed(name, plans);
  return found === undefined || found.metadata.uid === uid;
}

/** Whether following what plans replace comes from one to another. */
function leadsTo(from: string, to: string, plans: readonly InstallPlan[]): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === to) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    const plan = planNamed(name, plans);
    if (plan !== undefined) open.push(...wantedBy(plan, plans));
  }
  return false;
}

/** The plan of that name. */
function planNamed(name: string, plans: readonly InstallPlan[]): InstallPlan | undefined {
  return plans.find(({ metadata }) => metadata.name === name);
}
