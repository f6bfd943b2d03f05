import type { InstallPlan } from "@quartermaster/api";
import type { DomainSeries } from "@quartermaster/runtime";

import { countedStates, countPhases, countStates, planPhases } from "./plan-census.ts";
import type { PlanObserver } from "./plan-observer.ts";

/** From a tenth of a second to an hour. */
const stageBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600];

/** Registers the series of plans; `plans` is asked whenever the page is. Returns the hooks for the domain. */
export function planMetrics(series: DomainSeries, plans: () => readonly InstallPlan[]): PlanObserver {
  series.gauge(
    {
      name: "quartermaster_install_plans",
      help: "InstallPlans by phase",
      label: "phase",
      values: planPhases,
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
