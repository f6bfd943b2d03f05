import { conflict, eventually, type RequestMatch, startFaultProxy } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { ReconcileRecord } from "../../src/controller/controller-host.ts";
import { defineController } from "../../src/controller/define-controller.ts";
import { ApiError } from "../../src/errors.ts";
import type { CleanUpEnd } from "../../src/reconcile/outcome.ts";
import { connect } from "../support/connect.ts";
import { configMaps } from "../support/kinds.ts";
import { probeRecipe } from "../support/probe-recipe.ts";
import { aWidget, conditionOf, type Widget } from "../support/widgets.ts";
import { setUpWorkbench } from "../support/workbench.ts";

describe("a reconcile that fails", () => {
  test("[runtime/RT-14] a conflict on the status write is settled on fresh data, the work is not repeated", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const ref = { name: "contested", namespace };
    await using proxy = await startFaultProxy({ upstream: bench.admin });
    await using struck = connect({ ...bench.operatorAccess, ...proxy.access });
    let works = 0;
    const reported: unknown[] = [];
    const probe = probeRecipe<Widget>(() => {
      works += 1;
      return undefined;
    });
    const recipe = {
      ...probe,
      statusWritten: (_before: Widget, { outcome }: CleanUpEnd) => {
        reported.push(outcome);
      },
    };
    const predicate = { event: ({ type }: { readonly type: string }) => type === "added" };
    const concerns: RequestMatch = ({ resource, verb }) => resource === "widgets" && verb !== "watch";
    const injected = proxy.inject(
      (request) => concerns(request) && request.subresource === "status",
      conflict(),
      2,
    );
    await bench.manage([defineController(widgets, { recipe, namespace, predicate })], {
      transport: struck.transport,
    });
    await client.create(widgets, aWidget(widgets, ref));
    await injected.struck;
    // Another client writes meanwhile.
    const body = { metadata: { annotations: { by: "somebody" } } };
    await client.patch(widgets, ref, { patch: { kind: "merge", body } });
    const widget = await eventually(async () => {
      const found = await client.get(widgets, ref);
      return conditionOf(found, "Ready")?.status === "True" ? found : undefined;
    });
    expect(injected.hits).toBe(2);
    expect(works).toBe(1);
    expect(reported).toEqual([{ kind: "settled" }]);
    expect(widget.metadata.annotations).toEqual({ by: "somebody" });
    const requested = proxy.trace.filter(concerns).map(({ verb, status }) => `${verb} ${status}`);
    expect(requested).toEqual(["patch 409", "get 200", "patch 409", "get 200", "patch 200"]);
  });

  test("[runtime/RT-14] a spec that changes before the conflict is settled does not count as observed", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const ref = { name: "edited", namespace };
    await using proxy = await startFaultProxy({ upstream: bench.admin });
    await using struck = connect({ ...bench.operatorAccess, ...proxy.access });
    const recipe = probeRecipe<Widget>(async () => {
      await client.patch(widgets, ref, { patch: { kind: "merge", body: { spec: { text: "new" } } } });
      return undefined;
    });
    const predicate = { event: ({ type }: { readonly type: string }) => type === "added" };
    const injected = proxy.inject(({ subresource }) => subresource === "status", conflict());
    await bench.manage([defineController(widgets, { recipe, namespace, predicate })], {
      transport: struck.transport,
    });
    await client.create(widgets, aWidget(widgets, ref));
    const { metadata, status } = await eventually(async () => {
      const found = await client.get(widgets, ref);
      return found.status?.observedGeneration === undefined ? undefined : found;
    });
    expect(injected.hits).toBe(1);
    expect([metadata.generation, status?.observedGeneration]).toEqual([2, 1]);
  });

  test("[runtime/RT-15] backs off with growing pauses, recovers, and leaves other keys alone", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const timesMs: number[] = [];
    const records: ReconcileRecord[] = [];
    const others: string[] = [];
    const recipe = probeRecipe<Widget>(({ metadata: { name } }) => {
      if (name !== "shaky") {
        others.push(name);
        return undefined;
      }
      timesMs.push(performance.now());
      if (timesMs.length <= 5) throw new ApiError("no", { class: "transient", mayHaveActed: false });
      return undefined;
    });
    const retry = { firstMs: 50 };
    await bench.manage([defineController(widgets, { recipe, namespace, concurrency: 1, retry })], {
      telemetry: { reconcileFinished: (record) => records.push(record) },
    });
    await client.create(widgets, aWidget(widgets, { name: "shaky", namespace }));
    for (const name of ["calm-1", "calm-2"])
      await client.create(widgets, aWidget(widgets, { name, namespace }));
    await eventually(async () => {
      const widget = await client.get(widgets, { name: "shaky", namespace });
      return conditionOf(widget, "Ready")?.status === "True";
    });
    expect(timesMs).toHaveLength(6);
    const pauses = timesMs.slice(1).map((timeMs, at) => timeMs - (timesMs[at] ?? 0));
    pauses.forEach((pauseMs, attempt) => expect(pauseMs).toBeGreaterThanOrEqual(25 * 2 ** attempt - 2));
    expect(others.toSorted()).toEqual(["calm-1", "calm-2"]);
    expect(records.filter(({ result }) => result === "error").map(({ errorClass }) => errorClass)).toEqual(
      Array.from({ length: 5 }, () => "transient"),
    );
  });

  test("[runtime/RT-18] a reconcile beyond its deadline is aborted by its signal, reported, fenced off and repeated", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const records: ReconcileRecord[] = [];
    const lateWrites: unknown[] = [];
    let passes = 0;
    const recipe = probeRecipe<Widget>(async (_widget, ctx) => {
      passes += 1;
      if (passes > 1) return undefined;
      await new Promise((resolve) => {
        ctx.signal.addEventListener("abort", resolve);
      });
      // Code that ignores its signal must not get through any more.
      const late = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "late", namespace } };
      lateWrites.push(await ctx.client.create(configMaps, late).catch((error: unknown) => error));
      return undefined;
    });
    await bench.manage([defineController(widgets, { recipe, namespace, deadlineMs: 300 })], {
      telemetry: { reconcileFinished: (record) => records.push(record) },
    });
    await client.create(widgets, aWidget(widgets, { name: "slow", namespace }));
    await eventually(async () => {
      const widget = await client.get(widgets, { name: "slow", namespace });
      return conditionOf(widget, "Ready")?.status === "True";
    });
    expect(records[0]).toMatchObject({ result: "error", errorClass: "timeout", isDeadline: true });
    expect(records[1]).toMatchObject({ result: "success" });
    expect(lateWrites).toEqual([expect.objectContaining({ name: "TimeoutError" })]);
    expect(await client.find(configMaps, { name: "late", namespace })).toBeUndefined();
  });

  test.each([
    { name: "invalid", error: "invalid" as const, ready: "False", stalled: "True", reason: "Rejected" },
    { name: "forbidden", error: "forbidden" as const, ready: "False", stalled: "False", reason: "Forbidden" },
  ])("what is $name becomes a condition", async ({ error, ready, stalled, reason }) => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const recipe = probeRecipe<Widget>(() => {
      throw new ApiError("apply Service web: refused", { class: error, mayHaveActed: false });
    });
    await bench.manage([defineController(widgets, { recipe, namespace })]);
    const ref = { name: "refused", namespace };
    await client.create(widgets, aWidget(widgets, ref));
    const widget = await eventually(async () => {
      const found = await client.get(widgets, ref);
      return conditionOf(found, "Ready") === undefined ? undefined : found;
    });
    expect(conditionOf(widget, "Ready")).toMatchObject({ status: ready, reason });
    expect(conditionOf(widget, "Stalled")).toMatchObject({ status: stalled });
    expect(conditionOf(widget, "Ready")?.message).toBe("apply Service web: refused.");
  });
});
