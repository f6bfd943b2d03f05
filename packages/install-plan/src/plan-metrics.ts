import { type InstallPlan, planPhases } from "@quartermaster/api";
import type { DomainSeries } from "@quartermaster/runtime";

import type { PlanAction } from "./plan-action.ts";

/** From a tenth of a second to an hour. */
const stageBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600];

/** Registers the series of plans; `plans` is queried whenever the page is. Returns the hooks for the domain. */
export function planMetrics(series: DomainSeries, plans: () => readonly InstallPlan[]): PlanObserver {
  series.gauge(
    {
      name: "quartermaster_install_plans",
      help: "InstallPlans by phase",
      label: "phase",
      values: countedPhases,
    },
    () => countPhases(plans()),
  );
  series.gauge(
    {
      name: "quartermaster_install_plan_resources",
      help: "Objects of InstallPlans by state",
      label: "state",
      values: countedStates,
    },
    () => countStates(plans()),
  );
  const seconds = series.histogram({
    name: "quartermaster_install_plan_stage_seconds",
    help: "Time from the first write of a stage until it was passed, jobs included",
    buckets: stageBuckets,
  });
  return {
    wrote: series.counter({
      name: "quartermaster_install_plan_writes_total",
      help: "Writes of InstallPlans by verb, refused ones included",
      label: "verb",
      values: ["apply", "create", "patch", "delete"],
    }),
    repaired: series.counter({
      name: "quartermaster_install_plan_repairs_total",
      help: "Objects that were changed or deleted by others and put right",
      label: "repair",
      values: ["reverted", "recreated"],
    }),
    stagePassed: (durationMs) => {
      seconds(durationMs / 1000);
    },
  };
}

/** `New` is for plans that no reconcile has reported yet. */
const countedPhases = ["New", ...planPhases];

type Counts = NonNullable<NonNullable<InstallPlan["status"]>["counts"]>;

/** How an object of a plan can be, as `status.counts` has it. */
export type CountedState = Exclude<keyof Counts, "total">;

/** All of them. */
const countedStates: readonly CountedState[] = [
  "ready",
  "suspended",
  "inProgress",
  "failed",
  "missing",
  "drifted",
  "conflict",
  "terminating",
  "unknown",
];

/** Plans by phase, by what their statuses say. */
function countPhases(plans: readonly InstallPlan[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { status } of plans) {
    const phase = status?.phase ?? "New";
    counts.set(phase, (counts.get(phase) ?? 0) + 1);
  }
  return counts;
}

/** Objects by state. Plans that are over count for nothing: their objects are another one's. */
function countStates(plans: readonly InstallPlan[]): ReadonlyMap<CountedState, number> {
  const counts = new Map<CountedState, number>();
  for (const { status } of plans) {
    if (status?.counts === undefined || status.phase === "Superseded") continue;
    for (const state of countedStates) counts.set(state, (counts.get(state) ?? 0) + status.counts[state]);
  }
  return counts;
}

/** Hooks for metrics. All hooks are optional, must be quick and must not throw. */
export interface PlanObserver {
  /** A write of a plan was carried out; ones that the server refused count too. */
  wrote?(verb: WriteVerb): void;
  /** A changed or deleted object was repaired. */
  repaired?(how: Repair): void;
  /** A stage, its jobs included, was passed. A process that came in the middle knows of its beginning only the second. */
  stagePassed?(durationMs: number): void;
}

/** How an object was written. */
export type WriteVerb = "apply" | "create" | "patch" | "delete";

/** Repair of an object that was not as applied. */
export type Repair = "reverted" | "recreated";

/** The verb of each action that writes. */
export const verbsOfActions: Readonly<Partial<Record<PlanAction["kind"], WriteVerb>>> = {
  apply: "apply",
  createJob: "create",
  claimManifest: "patch",
  release: "patch",
  delete: "delete",
  deleteJob: "delete",
  forgetPlan: "delete",
};
