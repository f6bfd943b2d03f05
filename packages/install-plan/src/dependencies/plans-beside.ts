import { type InstallPlan, firstTen, installPlan } from "@quartermaster/api";
import { byNamespace, type Context, waiting } from "@quartermaster/runtime";

import { because, type Decision } from "../model/decision.ts";
import { hasStarted } from "../model/plan-status.ts";
import { reasons } from "../reasons.ts";
import type { Seen } from "../seen.ts";
import { dependsOn, dependsOnAtAll, type PlanLookup } from "./dependencies.ts";

/** Their events bring the plan back. */
const lookAgainMs = 60_000;

/** Nothing is checked before: kinds and namespaces may come with the plans that are waited for. */
export function dependenciesNotReady({ plan, dependencies }: Seen): Decision | undefined {
  if (hasStarted(plan) || dependencies === undefined || dependencies.waitingFor.length === 0)
    return undefined;
  const why = because(
    reasons.waitingForDependency,
    `Waiting for InstallPlans: ${firstTen(dependencies.waitingFor)}.`,
  );
  return { phase: "Validating", outcome: waiting(why, lookAgainMs) };
}

/** The plans of the plan's namespace. */
export function plansBeside({ metadata: { namespace = "" } }: InstallPlan, ctx: Context): PlanLookup {
  const store = ctx.store(installPlan.kind);
  return {
    get: (name) => store.get({ namespace, name }),
    all: () => store.listBy(byNamespace, namespace),
  };
}

/**
 * Plans that are being deleted too and depend on this one: their objects go first. A plan that stays is not waited for, and none that
 * this one depends on itself: labels may have changed since both were installed.
 */
export function leavingDependents(plan: InstallPlan, plans: PlanLookup): readonly string[] {
  return [...plans.all()]
    .filter(
      (other) =>
        other.metadata.deletionTimestamp !== undefined &&
        hasStarted(other) &&
        other.status?.phase !== "Superseded" &&
        dependsOn(other, plan, plans) &&
        !dependsOnAtAll(plan, other, plans),
    )
    .map(({ metadata }) => metadata.name);
}
