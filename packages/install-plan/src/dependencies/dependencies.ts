import type { InstallPlan } from "@quartermaster/api";

import { matchesLabels, parseLabelSelector } from "../manifest/transformation-problems.ts";
import type { Issue } from "../model/issue.ts";
import { hasStarted } from "../model/plan-status.ts";

/** The other plans that a plan depends on, as far as they keep it from starting. */
export interface Dependencies {
  /** One text for each plan that is not ready. */
  readonly waitingFor: readonly string[];
  /** Why the plan can never start: a cycle, or a selector that cannot be read. */
  readonly issues: readonly Issue[];
}

/** The plans of one namespace. */
export interface PlanLookup {
  readonly get: (name: string) => InstallPlan | undefined;
  readonly all: () => Iterable<InstallPlan>;
}

/** Undefined for a plan that depends on no other, or has started. */
export function dependenciesOf(plan: InstallPlan, plans: PlanLookup): Dependencies | undefined {
  const { dependsOn: declared } = plan.spec;
  if (declared === undefined || hasStarted(plan)) return undefined;
  const { selector } = declared;
  if (selector !== undefined && parseLabelSelector(selector) === undefined)
    return {
      waitingFor: [],
      issues: [invalid("spec.dependsOn.selector", "must be a non-empty label selector")],
    };
  const cycle = cycleThrough(plan, plans);
  if (cycle !== undefined)
    return { waitingFor: [], issues: [{ reason: "DependencyCycle", message: describeCycle(cycle) }] };
  const named = namedIn(plan).map((name) => ({ name, plan: successorOf(name, plans) }));
  const selected = selectedBy(plan, plans);
  const waitingFor = [
    ...named,
    ...selected.map((found) => ({ name: found.metadata.name, plan: found })),
  ].flatMap((dependency) => whyNotReady(dependency.name, dependency.plan) ?? []);
  const isNothingSelected = selector !== undefined && selected.length === 0;
  return {
    waitingFor: isNothingSelected ? [...waitingFor, "no plan matches the selector"] : waitingFor,
    issues: [],
  };
}

/** Whether the plan depends on the other one, directly. */
export function dependsOn(plan: InstallPlan, other: InstallPlan, plans: PlanLookup): boolean {
  if (plan.spec.dependsOn === undefined || plan.metadata.name === other.metadata.name) return false;
  const { name } = other.metadata;
  return (
    namedIn(plan).some((wanted) => wanted === name || successorOf(wanted, plans)?.metadata.name === name) ||
    selectedBy(plan, plans).some(({ metadata }) => metadata.name === name)
  );
}

/** Whether the plan depends on the other one, directly or through others. */
export function dependsOnAtAll(plan: InstallPlan, other: InstallPlan, plans: PlanLookup): boolean {
  return pathTo(other.metadata.name, plan, plans) !== undefined;
}

function namedIn({ spec }: InstallPlan): readonly string[] {
  return (spec.dependsOn?.plans ?? []).map(({ name }) => name);
}

function selectedBy({ metadata, spec }: InstallPlan, plans: PlanLookup): readonly InstallPlan[] {
  const requirements = parseLabelSelector(spec.dependsOn?.selector ?? "");
  if (requirements === undefined) return [];
  return [...plans.all()].filter(
    (other) =>
      other.metadata.name !== metadata.name &&
      other.status?.phase !== "Superseded" &&
      matchesLabels(other, requirements),
  );
}

/** Longest line of successors that is followed. */
const successorLimit = 50;

/** A plan that was replaced stands for the one that has its objects now. */
function successorOf(name: string, plans: PlanLookup): InstallPlan | undefined {
  let plan = plans.get(name);
  for (let step = 0; step < successorLimit && plan?.status?.phase === "Superseded"; step += 1)
    plan = plans.get(plan.status.replacedBy?.name ?? "") ?? undefined;
  return plan;
}

function whyNotReady(name: string, plan: InstallPlan | undefined): string | undefined {
  if (plan === undefined) return `${name} does not exist`;
  const { metadata, status } = plan;
  const title = metadata.name === name ? name : `${metadata.name}, which replaced ${name},`;
  if (metadata.deletionTimestamp !== undefined) return `${title} is being deleted`;
  return isReady(plan) ? undefined : `${title} is ${status?.phase ?? "new"}`;
}

/** No phase contradicts the conditions: an installed plan is Ready. */
function isReady({ metadata, status }: InstallPlan): boolean {
  const { observedGeneration = metadata.generation } = status ?? {};
  return status?.phase === "Installed" && observedGeneration === metadata.generation;
}

/** Steps of a search: plans that tenants make, each selecting all others, must not cost seconds. A longer cycle just waits. */
const stepLimit = 20_000;

/** Names from the plan over plans that have not started back to itself. */
function cycleThrough(plan: InstallPlan, plans: PlanLookup): readonly string[] | undefined {
  return pathTo(plan.metadata.name, plan, { ...plans, passes: (each) => !hasStarted(each) });
}

interface Search extends PlanLookup {
  /** Whether the search continues behind a plan (default: always). */
  readonly passes?: ((plan: InstallPlan) => boolean) | undefined;
}

function pathTo(target: string, from: InstallPlan, search: Search): readonly string[] | undefined {
  const { passes = () => true } = search;
  const visited = new Set<string>();
  const open: Step[] = [{ plan: from, path: [from.metadata.name] }];
  let steps = 0;
  for (let step = open.pop(); step !== undefined && steps < stepLimit; step = open.pop()) {
    const { plan, path } = step;
    const next = dependenciesBehind(plan, search);
    if (next.some(({ metadata }) => metadata.name === target)) return [...path, target];
    const fresh = next.filter((each) => !visited.has(each.metadata.name) && passes(each));
    for (const each of fresh) visited.add(each.metadata.name);
    open.push(...fresh.map((each) => ({ plan: each, path: [...path, each.metadata.name] })));
    steps += plan.spec.dependsOn?.selector === undefined ? 1 + next.length : selectorSteps;
  }
  return undefined;
}

interface Step {
  readonly plan: InstallPlan;
  readonly path: readonly string[];
}

/** What one selector costs against a name: it is compared with all plans of the namespace. */
const selectorSteps = 1_000;

function dependenciesBehind(plan: InstallPlan, plans: PlanLookup): readonly InstallPlan[] {
  return [...namedIn(plan).flatMap((name) => successorOf(name, plans) ?? []), ...selectedBy(plan, plans)];
}

function describeCycle(names: readonly string[]): string {
  return `The plans depend on each other in a cycle: ${names.slice(0, 20).join(" → ")}. Create one of them without spec.dependsOn.`;
}

function invalid(field: string, message: string): Issue {
  return { reason: "InvalidDependsOn", field, message };
}
