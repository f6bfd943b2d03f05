import type { InstallPlan } from "@quartermaster/api";

import type { Issue } from "../issue.ts";
import { parseLabelSelector } from "../manifest/label-selector.ts";
import { isRolledBack } from "../progress.ts";
import { leadsTo, namedBy, wantedBy } from "./replacement-wishes.ts";

/** What is wrong with what a plan replaces, before it has begun. */
export function replacementIssues(plan: InstallPlan, others: readonly InstallPlan[]): readonly Issue[] {
  const { name } = plan.metadata;
  const field = "spec.replaces";
  const { selector } = plan.spec.replaces ?? {};
  if (selector !== undefined && parseLabelSelector(selector) === undefined)
    return [
      {
        reason: "InvalidReplaces",
        field: `${field}.selector`,
        message: "The selector must be a label selector that demands something.",
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
