import { describe, expect, test } from "vitest";

import type { Telemetry } from "../../src/manager/telemetry.ts";
import { both } from "../../src/telemetry/both.ts";
import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import { dashboardQueries } from "../support/dashboard-queries.ts";

function make(system = new VirtualSystem()): Metrics {
  return createMetrics({
    system,
    controllers: [{ name: "copy", concurrency: 2 }],
    webhooks: ["/pods"],
    leases: ["leader"],
    processMetrics: true,
  });
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Just enough of Prometheus' text format. */
function samplesIn(text: string): readonly Sample[] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const match = /^(?<name>[a-zA-Z_:]\w*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/.exec(line);
      const labels = [...(match?.groups?.["labels"] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
      return {
        name: match?.groups?.["name"] ?? line,
        labels: Object.fromEntries(labels.map(([, key = "", value = ""]) => [key, value])),
        value: Number(match?.groups?.["value"]),
      };
    });
}

async function read(
  metrics: Metrics,
  name: string,
  labels: Sample["labels"] = {},
): Promise<number | undefined> {
  const found = samplesIn(await metrics.render()).find(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  return found?.value;
}

const controllerOnly = ["controller"];
const queue = ["controller", "name"];

/** Name and labels of every series that has to be there before anything happened. */
const initial: readonly (readonly [string, readonly string[]])[] = [
  ["controller_runtime_reconcile_total", ["controller", "result"]],
  ["controller_runtime_reconcile_errors_total", controllerOnly],
  ["controller_runtime_terminal_reconcile_errors_total", controllerOnly],
  ["controller_runtime_reconcile_panics_total", controllerOnly],
  ["controller_runtime_reconcile_timeouts_total", controllerOnly],
  ["controller_runtime_reconcile_time_seconds_count", controllerOnly],
  ["controller_runtime_max_concurrent_reconciles", controllerOnly],
  ["controller_runtime_active_workers", controllerOnly],
  ["workqueue_depth", ["controller", "name", "priority"]],
  ["workqueue_adds_total", queue],
  ["workqueue_queue_duration_seconds_count", queue],
  ["workqueue_work_duration_seconds_count", queue],
  ["workqueue_unfinished_work_seconds", queue],
  ["workqueue_longest_running_processor_seconds", queue],
  ["workqueue_retries_total", queue],
  ["controller_runtime_webhook_latency_seconds_count", ["webhook"]],
  ["controller_runtime_webhook_requests_total", ["code", "webhook"]],
  ["controller_runtime_webhook_requests_in_flight", ["webhook"]],
  ["controller_runtime_webhook_panics_total", []],
  ["controller_runtime_conversion_webhook_panics_total", []],
  ["leader_election_master_status", ["name"]],
  ["leader_election_slowpath_total", ["name"]],
  ["certwatcher_read_certificate_total", []],
  ["certwatcher_read_certificate_errors_total", []],
];

const afterRequests: typeof initial = [
  ["rest_client_requests_total", ["code", "host", "method"]],
  ["rest_client_request_duration_seconds_count", ["host", "verb"]],
  ["rest_client_request_size_bytes_count", ["host", "verb"]],
  ["rest_client_response_size_bytes_count", ["host", "verb"]],
];

function observeOne({ observe }: Metrics): void {
  observe({
    method: "GET",
    verb: "list",
    host: "h:1",
    code: "200",
    durationMs: 20,
    requestBytes: 0,
    responseBytes: 900,
  });
}

describe("the page of metrics", () => {
  test.each(initial)(
    "[runtime/RT-30] shows %s at its start, with controller-runtime's labels",
    async (name, labels) => {
      const found = samplesIn(await make().render()).filter((sample) => sample.name === name);
      expect(found.map((sample) => Object.keys(sample.labels).toSorted())).toEqual(found.map(() => labels));
      expect(found.length).toBeGreaterThan(0);
      const isZero = name !== "controller_runtime_max_concurrent_reconciles";
      expect(found.every(({ value }) => value === (isZero ? 0 : 2))).toBe(true);
    },
  );

  test.each(afterRequests)("[runtime/RT-30] shows %s after a request", async (name, labels) => {
    const metrics = make();
    observeOne(metrics);
    const found = samplesIn(await metrics.render()).find((sample) => sample.name === name);
    expect(Object.keys(found?.labels ?? {}).toSorted()).toEqual(labels);
    expect(found?.value).toBe(1);
  });

  test("[runtime/RT-30] knows the names of what we have no use for", async () => {
    const text = await make().render();
    expect(text).toContain("# TYPE rest_client_rate_limiter_duration_seconds histogram");
    expect(text).toContain("# TYPE rest_client_request_retries_total counter");
  });

  test("[runtime/RT-30] has the buckets of controller-runtime", async () => {
    const samples = samplesIn(await make().render());
    const bounds = (name: string): readonly string[] =>
      samples.filter((sample) => sample.name === `${name}_bucket`).map(({ labels }) => labels["le"] ?? "");
    const reconcile = bounds("controller_runtime_reconcile_time_seconds");
    expect([reconcile.length, reconcile[0], reconcile.at(-2)]).toEqual([41, "0.005", "60"]);
    const waiting = bounds("workqueue_queue_duration_seconds").map(Number);
    expect(waiting).toEqual([1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1_000, Number.NaN]);
  });

  test.each(dashboardQueries)("[runtime/RT-30] answers the dashboard's query %s", async (query) => {
    const metrics = make();
    observeOne(metrics);
    const samples = samplesIn(await metrics.render());
    const selectors = [...query.matchAll(/(?<name>[a-z]\w*_\w+)\s*\{(?<matchers>[^}]*)\}/g)];
    expect(selectors.length, "the query names a series").toBeGreaterThan(0);
    const byLabels = [...query.matchAll(/by\s*\((?<labels>[^)]*)\)/g)].flatMap(({ groups }) =>
      split(groups?.["labels"]),
    );
    for (const { groups } of selectors) {
      const series = samples.filter(({ name }) => name === groups?.["name"]);
      const matched = split(groups?.["matchers"]).map((matcher) => /^\w+/.exec(matcher)?.[0] ?? "");
      const wanted = [...matched, ...byLabels].filter((label) => !targetLabels.has(label));
      expect(
        series.filter(({ labels }) => wanted.every((label) => label in labels)),
        groups?.["name"],
      ).not.toEqual([]);
    }
  });
});

/** Put on by Prometheus when it scrapes. */
const targetLabels = new Set(["instance", "job", "namespace", "pod", "service", "container"]);

function split(list: string | undefined): readonly string[] {
  return (list ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

describe("the hooks", () => {
  test("count passes by how they ended", async () => {
    const metrics = make();
    const { telemetry } = metrics;
    telemetry.reconcileFinished?.({ controller: "copy", result: "success", durationMs: 30 });
    telemetry.reconcileFinished?.({
      controller: "copy",
      result: "error",
      durationMs: 30,
      errorClass: "bug",
      isDeadline: false,
    });
    telemetry.reconcileFinished?.({
      controller: "copy",
      result: "error",
      durationMs: 30,
      errorClass: "timeout",
      isDeadline: true,
    });
    expect(await read(metrics, "controller_runtime_reconcile_total", { result: "error" })).toBe(2);
    expect(await read(metrics, "controller_runtime_reconcile_errors_total")).toBe(2);
    expect(await read(metrics, "controller_runtime_reconcile_panics_total")).toBe(1);
    expect(await read(metrics, "controller_runtime_reconcile_timeouts_total")).toBe(1);
    expect(await read(metrics, "controller_runtime_reconcile_time_seconds_bucket", { le: "0.05" })).toBe(3);
  });

  test("say for how long unfinished work has been running", async () => {
    const system = new VirtualSystem();
    const metrics = make(system);
    metrics.telemetry.queueLatency?.({ controller: "copy", durationMs: 5 });
    await system.advance(3_000);
    metrics.telemetry.queueLatency?.({ controller: "copy", durationMs: 5 });
    await system.advance(1_000);
    expect(await read(metrics, "workqueue_unfinished_work_seconds")).toBe(5);
    expect(await read(metrics, "workqueue_longest_running_processor_seconds")).toBe(4);
    metrics.telemetry.workDuration?.({ controller: "copy", durationMs: 4_000 });
    expect(await read(metrics, "workqueue_unfinished_work_seconds")).toBe(1);
    expect(await read(metrics, "workqueue_longest_running_processor_seconds")).toBe(1);
  });

  test("show depth by controller-runtime's priorities", async () => {
    const metrics = make();
    metrics.telemetry.queueDepth?.({ controller: "copy", depths: { normal: 2, low: 7 } });
    expect(await read(metrics, "workqueue_depth", { priority: "0" })).toBe(2);
    expect(await read(metrics, "workqueue_depth", { priority: "-100" })).toBe(7);
  });

  test("count webhooks, leases and certificates", async () => {
    const metrics = make();
    metrics.webhooks.webhookStarted?.({ webhook: "/pods" });
    expect(await read(metrics, "controller_runtime_webhook_requests_in_flight")).toBe(1);
    metrics.webhooks.webhookFinished?.({ webhook: "/pods", code: 500, durationMs: 3 });
    metrics.webhooks.webhookFailed?.({ webhook: "/pods", review: "conversion" });
    metrics.leases.leaseHeld?.({ lease: "leader", isHeld: true });
    metrics.leases.leaseSlowPath?.({ lease: "leader" });
    metrics.certificates.certificateReadFailed?.();
    expect(await read(metrics, "controller_runtime_webhook_requests_in_flight")).toBe(0);
    expect(await read(metrics, "controller_runtime_webhook_requests_total", { code: "500" })).toBe(1);
    expect(await read(metrics, "controller_runtime_conversion_webhook_panics_total")).toBe(1);
    expect(await read(metrics, "leader_election_master_status")).toBe(1);
    expect(await read(metrics, "leader_election_slowpath_total")).toBe(1);
    expect(await read(metrics, "certwatcher_read_certificate_errors_total")).toBe(1);
  });

  test("count repeated requests, and passes that only a change of the spec can help", async () => {
    const metrics = make();
    metrics.observeRetry({ method: "GET", host: "api", code: "503" });
    expect(await read(metrics, "rest_client_request_retries_total", { code: "503", verb: "GET" })).toBe(1);
    const failed = { controller: "copy", result: "error", durationMs: 1, errorClass: "invalid" } as const;
    metrics.telemetry.reconcileFinished?.({ ...failed, isTerminal: true });
    metrics.telemetry.reconcileFinished?.(failed);
    expect(await read(metrics, "controller_runtime_terminal_reconcile_errors_total")).toBe(1);
  });

  test("of two sets are both called", () => {
    const called: string[] = [];
    const one: Telemetry = { leading: () => called.push("one"), eventDropped: () => called.push("dropped") };
    const merged = both<Telemetry>(one, { leading: () => called.push("other") });
    merged.leading?.({ isLeading: true });
    merged.eventDropped?.({ why: "full" });
    expect(called).toEqual(["one", "other", "dropped"]);
  });
});
