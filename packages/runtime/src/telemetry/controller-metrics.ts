import { Counter, Gauge, Histogram, type Registry } from "prom-client";

import type { ControllerObserver, ReconcileRecord } from "../controller/controller-host.ts";
import { reconcileBuckets } from "./request-buckets.ts";

/** A controller whose series exist from the start, at 0. */
export interface MeasuredController {
  readonly name: string;
  /** Reconciles that may run in parallel (default: 4), as controllers have it. */
  readonly concurrency?: number;
}

type ControllerHooks = Pick<ControllerObserver, "reconcileFinished" | "activeWorkers">;

/** The series `controller_runtime_reconcile_*` and workers, with controller-runtime's names and labels. */
export function controllerMetrics(registry: Registry): {
  readonly hooks: ControllerHooks;
  readonly initialise: (controller: MeasuredController) => void;
} {
  const series = seriesIn(registry);
  const hooks: ControllerHooks = {
    reconcileFinished: (record) => {
      count(series, record);
    },
    activeWorkers: ({ controller, count: workers }) => {
      series.activeWorkers.set({ controller }, workers);
    },
  };
  return {
    hooks,
    initialise: (controller) => {
      initialise(series, controller);
    },
  };
}

type Series = ReturnType<typeof seriesIn>;

function seriesIn(registry: Registry) {
  const registers = [registry];
  const labelNames = ["controller"] as const;
  const counter = (name: string, help: string): Counter<"controller"> =>
    new Counter({ name: `controller_runtime_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string): Gauge<"controller"> =>
    new Gauge({ name: `controller_runtime_${name}`, help, labelNames, registers });
  return {
    total: new Counter({
      name: "controller_runtime_reconcile_total",
      help: "Total number of reconciliations per controller",
      labelNames: ["controller", "result"],
      registers,
    }),
    errors: counter("reconcile_errors_total", "Total number of reconciliation errors per controller"),
    terminalErrors: counter(
      "terminal_reconcile_errors_total",
      "Total number of terminal reconciliation errors per controller",
    ),
    panics: counter("reconcile_panics_total", "Total number of reconciliation panics per controller"),
    timeouts: counter("reconcile_timeouts_total", "Total number of reconciliation timeouts per controller"),
    time: new Histogram({
      name: "controller_runtime_reconcile_time_seconds",
      help: "Length of time per reconciliation per controller",
      labelNames,
      buckets: reconcileBuckets,
      registers,
    }),
    maxConcurrent: gauge(
      "max_concurrent_reconciles",
      "Maximum number of concurrent reconciles per controller",
    ),
    activeWorkers: gauge("active_workers", "Number of currently used workers per controller"),
  };
}

const results = ["error", "requeue", "requeue_after", "success"] as const;

function initialise(series: Series, { name: controller, concurrency = 4 }: MeasuredController): void {
  for (const result of results) series.total.inc({ controller, result }, 0);
  for (const counter of [series.errors, series.terminalErrors, series.panics, series.timeouts]) {
    counter.inc({ controller }, 0);
  }
  series.time.zero({ controller });
  series.maxConcurrent.set({ controller }, concurrency);
  series.activeWorkers.set({ controller }, 0);
}

/** A fault of ours is what Go's runtime would have recovered from as a panic. */
function count(
  series: Series,
  { controller, result, durationMs, errorClass, isDeadline, isTerminal }: ReconcileRecord,
): void {
  series.total.inc({ controller, result });
  series.time.observe({ controller }, durationMs / 1_000);
  if (result === "error") series.errors.inc({ controller });
  if (isTerminal === true) series.terminalErrors.inc({ controller });
  if (errorClass === "bug") series.panics.inc({ controller });
  if (isDeadline === true) series.timeouts.inc({ controller });
}
