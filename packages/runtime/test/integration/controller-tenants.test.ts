import { eventually, joinSharedCluster, makeNamespace } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { defineController } from "../../src/controller/define-controller.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { probeRecipe } from "../support/probe-recipe.ts";
import { aWidget, conditionOf, type Widget } from "../support/widgets.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

const passMs = 15;

async function inParallel(
  count: number,
  width: number,
  job: (at: number) => Promise<unknown>,
): Promise<void> {
  const numbers = Array.from({ length: count }, (_, at) => at).values();
  const lane = async (): Promise<void> => {
    for (const at of numbers) await job(at);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

async function setText(
  { client, widgets }: Workbench,
  metadata: Widget["metadata"],
  text: string,
): Promise<void> {
  await client.patch(widgets, metadata, { patch: { kind: "merge", body: { spec: { text } } } });
}

describe("tenants", () => {
  test("[security/80] thousands of objects of one tenant do not keep another one waiting", async () => {
    await using bench = await setUpWorkbench();
    using cluster = joinSharedCluster();
    await using greedy = await makeNamespace(cluster.api, "greedy");
    const { client, widgets, namespace } = bench;
    const system = realSystem();
    const seen = new Map<string, string | undefined>();
    let others = 0;
    const recipe = probeRecipe<Widget>(async ({ metadata, spec }) => {
      await system.sleep(passMs);
      if (metadata.namespace === namespace) seen.set(metadata.name, spec.text);
      else others += 1;
      return undefined;
    });
    const calm = { name: "calm", namespace };
    await client.create(widgets, aWidget(widgets, calm));
    const { heapUsed } = process.memoryUsage();
    const manager = await bench.manage([
      defineController(widgets, { recipe, concurrency: 2, writesStatus: false }),
    ]);
    // 2,000 for 10,000: two workers need a quarter of a minute for them, and in one line an edit would wait behind them all.
    await inParallel(2_000, 32, async (at) => {
      await client.create(widgets, aWidget(widgets, { name: `w-${at}`, namespace: greedy.name }));
    });
    const ahead: number[] = [];
    for (let at = 0; at < 30; at += 1) {
      const [text, before] = [`t-${at}`, others];
      await setText(bench, calm, text);
      await eventually(() => seen.get("calm") === text, { everyMs: 1 });
      ahead.push(others - before);
    }
    expect(manager.health().controllers[0]?.queued).toBeGreaterThan(100);
    // What the watch takes to deliver an edit is filled by others; behind the whole line it would be many hundreds.
    const median = ahead.toSorted((one, other) => one - other)[15];
    expect(median).toBeLessThan(50);
    expect(process.memoryUsage().heapUsed - heapUsed).toBeLessThan(400e6);
  });

  test("[security/83] a storm of updates of one object is merged into one running reconcile and one that waits", async () => {
    await using bench = await setUpWorkbench();
    const { client, widgets, namespace } = bench;
    let [reconciles, running, most] = [0, 0, 0];
    let latest: string | undefined;
    // The first reconcile lasts as long as the storm, however slow the machine is.
    const storm = Promise.withResolvers<undefined>();
    let hasSeenAll = false;
    const recipe = probeRecipe<Widget>(async ({ metadata, spec }) => {
      if (metadata.name === "after") {
        hasSeenAll = true;
        return undefined;
      }
      reconciles += 1;
      running += 1;
      most = Math.max(most, running);
      await storm.promise;
      latest = spec.text;
      running -= 1;
      return undefined;
    });
    const stormy = { name: "stormy", namespace };
    await client.create(widgets, aWidget(widgets, stormy));
    const manager = await bench.manage([
      defineController(widgets, { recipe, namespace, concurrency: 8, writesStatus: false }),
    ]);
    let deepest = 0;
    // As fast as the server takes them for one object; more writers only meet each other's conflicts.
    await inParallel(100, 2, async (at) => {
      await setText(bench, stormy, `t-${at}`);
      deepest = Math.max(deepest, manager.health().controllers[0]?.queued ?? 0);
    });
    const { spec } = await client.get(widgets, stormy);
    // A watch delivers in order: once an object made after the storm arrives, every event of the storm has arrived.
    await client.create(widgets, aWidget(widgets, { name: "after", namespace }));
    await eventually(() => hasSeenAll);
    storm.resolve(undefined);
    await eventually(() => latest === spec.text);
    expect(most).toBe(1);
    expect(deepest).toBeLessThanOrEqual(2);
    expect(reconciles).toBe(2);
  });

  test("[security/82] a status of 1.4 MB that another client wrote is left alone, and ours is written beside it", async () => {
    await using bench = await setUpWorkbench();
    const { client, widgets, namespace } = bench;
    const recipe = probeRecipe<Widget>(() => undefined);
    const fat = { name: "fat", namespace };
    const { metadata } = await client.create(widgets, aWidget(widgets, fat));
    const foreign = "x".repeat(1_400_000);
    await client.patch(widgets, fat, {
      patch: { kind: "merge", body: { status: { foreign } } },
      subresource: "status",
    });
    await bench.manage([defineController(widgets, { recipe, namespace })]);
    await client.create(widgets, aWidget(widgets, { name: "thin", namespace }));
    for (const name of ["fat", "thin"]) {
      await eventually(async () => {
        const widget = await client.get(widgets, { name, namespace });
        return conditionOf(widget, "Ready")?.status === "True";
      });
    }
    const { status } = await client.get(widgets, fat);
    expect(status?.["foreign"]).toBe(foreign);
    expect(status?.observedGeneration).toBe(metadata.generation);
  });
});
