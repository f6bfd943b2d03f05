import { Counter, Gauge, Histogram, type Registry } from "prom-client";

import type { ControllerObserver } from "../controller/controller-host.ts";
import type { System } from "../system/system.ts";
import { queueBuckets } from "./request-buckets.ts";
import { RunningWork } from "./running-work.ts";

type QueueHooks = Pick<
  ControllerObserver,
  "queueAdded" | "queueDepth" | "queueLatency" | "workDuration" | "queueRetried"
>;

/** The series `workqueue_*`. Both labels hold the controller's name, as in controller-runtime. */
export function queueMetrics(
  registry: Registry,
  system: System,
): { readonly hooks: QueueHooks; readonly initialise: (controller: string) => void } {
  const running = new Map<string, RunningWork>();
  const series = { ...seriesIn(registry), ...workGaugesIn(registry, system, running) };
  const hooks: QueueHooks = {
    queueAdded: ({ controller }) => {
      series.adds.inc(labelsOf(controller));
    },
    queueDepth: ({ controller, depths }) => {
      for (const [priority, depth] of Object.entries(depths)) {
        series.depth.set({ ...labelsOf(controller), priority: priorities.get(priority) ?? "0" }, depth);
      }
    },
    queueLatency: ({ controller, durationMs }) => {
      series.latency.observe(labelsOf(controller), durationMs / 1_000);
      workOf(running, controller).begin(system.monotonicMs());
    },
    workDuration: ({ controller, durationMs }) => {
      series.duration.observe(labelsOf(controller), durationMs / 1_000);
      workOf(running, controller).end(system.monotonicMs() - durationMs);
    },
    queueRetried: ({ controller }) => {
      series.retries.inc(labelsOf(controller));
    },
  };
  return {
    hooks,
    initialise: (controller) => {
      workOf(running, controller);
      initialise(series, controller);
    },
  };
}

/** controller-runtime's numbers for what we call by name. */
const priorities = new Map([
  ["normal", "0"],
  ["low", "-100"],
]);

function labelsOf(controller: string): { readonly name: string; readonly controller: string } {
  return { name: controller, controller };
}

function workOf(running: Map<string, RunningWork>, controller: string): RunningWork {
  const known = running.get(controller) ?? new RunningWork();
  running.set(controller, known);
  return known;
}

type Series = ReturnType<typeof seriesIn> & ReturnType<typeof workGaugesIn>;

function initialise(series: Series, controller: string): void {
  const labels = labelsOf(controller);
  for (const priority of priorities.values()) series.depth.set({ ...labels, priority }, 0);
  for (const counter of [series.adds, series.retries]) counter.inc(labels, 0);
  for (const histogram of [series.latency, series.duration]) histogram.zero(labels);
}

const labelNames = ["name", "controller"] as const;

function seriesIn(registry: Registry) {
  const registers = [registry];
  const histogram = (name: string, help: string): Histogram<"name" | "controller"> =>
    new Histogram({ name, help, labelNames, buckets: queueBuckets, registers });
  return {
    depth: new Gauge({
      name: "workqueue_depth",
      help: "Current depth of workqueue by workqueue and priority",
      labelNames: ["name", "controller", "priority"],
      registers,
    }),
    adds: new Counter({
      name: "workqueue_adds_total",
      help: "Total number of adds handled by workqueue",
      labelNames,
      registers,
    }),
    retries: new Counter({
      name: "workqueue_retries_total",
      help: "Total number of retries handled by workqueue",
      labelNames,
      registers,
    }),
    latency: histogram(
      "workqueue_queue_duration_seconds",
      "How long in seconds an item stays in workqueue before being requested",
    ),
    duration: histogram(
      "workqueue_work_duration_seconds",
      "How long in seconds processing an item from workqueue takes.",
    ),
  };
}

/** Values of the moment are computed when the page is read. */
function workGaugesIn(registry: Registry, system: System, running: ReadonlyMap<string, RunningWork>) {
  const gauge = (name: string, help: string, read: (work: RunningWork, nowMs: number) => number): Gauge =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        for (const [controller, work] of running) {
          this.set(labelsOf(controller), read(work, system.monotonicMs()) / 1_000);
        }
      },
    });
  return {
    unfinished: gauge(
      "workqueue_unfinished_work_seconds",
      "How many seconds of work has been done that is in progress and hasn't been observed by work_duration",
      (work, nowMs) => work.totalMs(nowMs),
    ),
    longest: gauge(
      "workqueue_longest_running_processor_seconds",
      "How many seconds has the longest running processor for workqueue been running",
      (work, nowMs) => work.longestMs(nowMs),
    ),
  };
}
