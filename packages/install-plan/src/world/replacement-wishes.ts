import type { InstallPlan } from "@quartermaster/api";

import { matchesLabels, parseLabelSelector } from "../manifest/label-selector.ts";
import { hasStarted, isInstalled } from "../progress.ts";

type Entries = NonNullable<NonNullable<InstallPlan["status"]>["replaces"]>;

/** The plans that a plan said it takes over from before its first write: nobody joins them later. Undefined before that. */
export function fixedSet(plan: InstallPlan): Entries | undefined {
  return plan.status?.replaces ?? (hasStarted(plan) ? [] : undefined);
}

/** What a plan says that it replaces, by name and by selector. A selector does not reach plans that are over. */
export function namedBy({ metadata, spec }: InstallPlan, plans: readonly InstallPlan[]): readonly string[] {
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
 * own, whose objects are still on their way: whoever takes its place takes them over too.
 */
export function wantedBy(
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

/** Another plan under the name of one that is gone is not the one that was meant. */
function isMeant({ name, uid }: Entries[number], plans: readonly InstallPlan[]): boolean {
  const found = planNamed(name, plans);
  return found === undefined || found.metadata.uid === uid;
}

/** Whether following what plans replace comes from one to another. */
export function leadsTo(from: string, to: string, plans: readonly InstallPlan[]): boolean {
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
export function planNamed(name: string, plans: readonly InstallPlan[]): InstallPlan | undefined {
  return plans.find(({ metadata }) => metadata.name === name);
}
