import type { InstallPlan } from "@quartermaster/api";

import type { Issue } from "../issue.ts";
import { parseLabelSelector } from "../manifest/label-selector.ts";
import { isRolledBack } from "../progress.ts";
import type { PlanGraph } from "./plan-graph.ts";
import {
  leadingTo,
  namedBy,
  reachedFrom,
  replacesLimit,
  wantedBy,
  wantedSlots,
  wanting,
} from "./replacement-wishes.ts";

/** Names in one message, and rivals that are reported: the first ones say enough, and more of them change nothing. */
const namesShown = 3;
const rivalsShown = 10;

/** What is wrong with what a plan replaces, before it has begun. */
export function replacementIssues(plan: InstallPlan, graph: PlanGraph): readonly Issue[] {
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
