import type { InstallPlan } from "@quartermaster/api";

import { isInstalled } from "../model/plan-status.ts";
import { fixedSet, type PlanGraph, type PlanSelector } from "./plan-graph.ts";
import { SlotSet } from "./slot-set.ts";

/** Plans that one plan can take over from; its status has room for so many. */
export const replacesLimit = 50;

/** Plans that a plan replaces by its spec, by name and by selector. A selector does not reach plans that are over. */
export function namedBy(plan: InstallPlan, graph: PlanGraph): readonly string[] {
  const names = graph.namesIn(plan);
  const matched = graph.selectorOf(plan)?.matched ?? new SlotSet();
  const matches = [...matched.values()]
    .map((slot) => graph.nameAt(slot))
    .filter((name) => name !== plan.metadata.name);
  return [...new Set([...names, ...matches.toSorted()])];
}

/**
 * Names of all plans that a plan takes over from. A predecessor that never finished, or never began, has predecessors of its
 * own, whose objects are still on their way: its successor takes them over too. Ends soon after `replacesLimit` names: the
 * result then says only that there are too many.
 */
export function wantedBy(plan: InstallPlan, graph: PlanGraph): readonly string[] {
  const own = plan.metadata.name;
  const fixed = fixedSet(plan);
  if (fixed !== undefined)
    return fixed.filter((entry) => entry.name === own || isMeant(entry, graph)).map(({ name }) => name);
  const found = new Set<string>();
  const visited = new Set([own]);
  const collect = (from: InstallPlan): void => {
    const isOwn = from.metadata.name === own;
    const take = (name: string): unknown => (isOwn || name !== own) && found.add(name);
    const named = namedBy(from, graph);
    for (const name of named) take(name);
    for (const name of named) {
      if (found.size > replacesLimit) return;
      const next = visited.has(name) ? undefined : unfinished(graph.planNamed(name));
      if (next === undefined) continue;
      const handedOn = stillHeld(next);
      if (handedOn === undefined) {
        visited.add(name);
        collect(next);
      }
      for (const held of handedOn ?? []) take(held);
    }
  };
  collect(plan);
  return [...found];
}

/** The slots of all plans that a plan takes over from, however many they are. */
export function wantedSlots(plan: InstallPlan, graph: PlanGraph): SlotSet {
  const found = new SlotSet();
  for (const entry of fixedSet(plan) ?? []) if (isMeant(entry, graph)) found.add(graph.slotOf(entry.name));
  if (!isOpen(plan)) return found;
  /** Plans held by another are found without being followed; they may still be named. */
  const followed = new SlotSet();
  const open = [plan];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const slot of namedSlots(next, graph, followed)) {
      if (!followed.add(slot)) continue;
      found.add(slot);
      for (const name of heldOf(graph.planAt(slot))) found.add(graph.slotOf(name));
      const inner = unfinished(graph.planAt(slot));
      if (isOpen(inner)) open.push(inner);
    }
  }
  return found;
}

/** Everything that following what plans replace comes to; the starts are among it. */
export function reachedFrom(starts: Iterable<number>, graph: PlanGraph): SlotSet {
  const reached = new SlotSet();
  /** Those that a plan without a fixed set has named: what they still hold is named with them. */
  const offered = new SlotSet();
  const open: number[] = [];
  const visit = (slot: number): void => {
    if (reached.add(slot)) open.push(slot);
  };
  for (const slot of starts) visit(slot);
  for (let slot = open.pop(); slot !== undefined; slot = open.pop()) {
    const plan = graph.planAt(slot);
    if (plan === undefined) continue;
    const fixed = fixedSet(plan);
    for (const entry of fixed ?? []) if (isMeant(entry, graph)) visit(graph.slotOf(entry.name));
    if (fixed !== undefined) continue;
    for (const named of namedSlots(plan, graph, offered)) {
      offered.add(named);
      visit(named);
      for (const name of heldOf(graph.planAt(named))) visit(graph.slotOf(name));
    }
  }
  return reached;
}

/** Every plan from which following what plans replace comes to this one; itself among them. */
export function leadingTo(target: number, graph: PlanGraph): SlotSet {
  const leading = new SlotSet();
  const selectors = new Set(graph.selectors);
  const open: number[] = [];
  const visit = (slot: number): void => {
    if (leading.add(slot)) open.push(slot);
  };
  visit(target);
  for (let slot = open.pop(); slot !== undefined; slot = open.pop())
    for (const before of [
      ...holding(slot, graph),
      ...naming(slot, graph, selectors),
      ...namingHolders(slot, graph, selectors),
    ])
      visit(before);
  return leading;
}

/** Every plan that takes over from one of these, by its status or by what it would begin with. */
export function wanting(targets: Iterable<number>, graph: PlanGraph): SlotSet {
  const found = new SlotSet();
  const selectors = new Set(graph.selectors);
  const open: number[] = [];
  const visit = (slot: number): void => {
    if (found.add(slot)) open.push(slot);
  };
  for (const target of targets) {
    for (const slot of [...naming(target, graph, selectors), ...namingHolders(target, graph, selectors)])
      visit(slot);
    for (const slot of holding(target, graph)) found.add(slot);
  }
  for (let slot = open.pop(); slot !== undefined; slot = open.pop())
    if (unfinished(graph.planAt(slot)) !== undefined)
      for (const before of naming(slot, graph, selectors)) visit(before);
  return found;
}

/** Plans with a fixed set that has this one, not another of its name. */
function holding(slot: number, graph: PlanGraph): readonly number[] {
  const name = graph.nameAt(slot);
  return [...graph.holdersOf(slot)].filter((holder) =>
    graph.planAt(holder)?.status?.replaces?.some((entry) => entry.name === name && isMeant(entry, graph)),
  );
}

/**
 * Plans without a fixed set that name or select this one. A selector that has matched once need not be looked at again in the
 * same walk: all that have it are known then.
 */
function naming(slot: number, graph: PlanGraph, selectors: Set<PlanSelector>): readonly number[] {
  const found = [...graph.namersOf(slot)];
  for (const selector of selectors) {
    if (!selector.matched.has(slot)) continue;
    selectors.delete(selector);
    for (const source of graph.sourcesOf(selector)) if (isOpen(graph.planAt(source))) found.push(source);
  }
  return found;
}

/** Plans without a fixed set that name one which still holds the name, whether or not it means this very plan. */
function namingHolders(slot: number, graph: PlanGraph, selectors: Set<PlanSelector>): readonly number[] {
  const name = graph.nameAt(slot);
  return [...graph.holdersOf(slot)]
    .filter((holder) => heldOf(graph.planAt(holder)).includes(name))
    .flatMap((holder) => naming(holder, graph, selectors));
}

function* namedSlots(plan: InstallPlan, graph: PlanGraph, without: SlotSet): Generator<number> {
  for (const name of graph.namesIn(plan)) yield graph.slotOf(name);
  const own = graph.slotOf(plan.metadata.name);
  for (const slot of graph.selectorOf(plan)?.matched.values(without) ?? []) if (slot !== own) yield slot;
}

function isOpen(plan: InstallPlan | undefined): plan is InstallPlan {
  return plan !== undefined && fixedSet(plan) === undefined;
}

function unfinished(plan: InstallPlan | undefined): InstallPlan | undefined {
  return plan === undefined || isInstalled(plan) || plan.status?.phase === "Superseded" ? undefined : plan;
}

/** Names that a plan with a fixed set has not finished with; undefined without one. */
function stillHeld(plan: InstallPlan): readonly string[] | undefined {
  return fixedSet(plan)
    ?.filter(({ state }) => state === "Releasing" || state === "Pending")
    .map(({ name }) => name);
}

function heldOf(plan: InstallPlan | undefined): readonly string[] {
  const found = unfinished(plan);
  return found === undefined ? [] : (stillHeld(found) ?? []);
}

/** Another plan under the name of one that no longer exists is not the one that was meant. */
function isMeant(
  { name, uid }: { readonly name: string; readonly uid?: string | undefined },
  graph: PlanGraph,
): boolean {
  const found = graph.planNamed(name);
  return found === undefined || found.metadata.uid === uid;
}
