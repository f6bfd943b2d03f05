import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { Client } from "../../src/client/client.ts";
import { defineController } from "../../src/controller/define-controller.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { type ConfigMap, configMaps } from "../support/kinds.ts";
import { probeRecipe } from "../support/probe-recipe.ts";
import { setUpWorkbench } from "../support/workbench.ts";

/** Runs the job for 0 … count - 1, so many at a time. */
async function inParallel(
  count: number,
  width: number,
  job: (at: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await job(at);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

async function createMany(client: Client, namespace: string, count: number): Promise<void> {
  await inParallel(count, 32, async (at) => {
    const metadata = { name: `c-${at}`, namespace };
    await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data: { at: "0" } });
  });
}

/** A live server takes some 500 writes a second here: 5,000 in every run, 50,000 in `make campaign` and in the unit test. */
const events = process.env["QM_CAMPAIGN"] === "1" ? 50_000 : 5_000;

describe("a controller under load", () => {
  test("[runtime/RT-17] an edit during the initial list of 10,000 is handled before the backlog", async () => {
    await using bench = await setUpWorkbench({ isServed: false });
    const { client, namespace } = bench;
    await createMany(client, namespace, 10_000);
    const handled: string[] = [];
    let editedAfter: number | undefined;
    const recipe = probeRecipe<ConfigMap>(async ({ metadata, data }) => {
      handled.push(metadata.name);
      if (data?.["at"] === "edited") editedAfter ??= handled.length;
      await realSystem().sleep(1);
      return undefined;
    });
    const controller = defineController(configMaps, {
      recipe,
      namespace,
      concurrency: 2,
      writesStatus: false,
    });
    const manager = await bench.manage([controller]);
    await eventually(() => handled.length > 0);
    const before = handled.length;
    await client.patch(
      configMaps,
      { name: "c-9999", namespace },
      {
        patch: { kind: "merge", body: { data: { at: "edited" } } },
      },
    );
    await eventually(() => editedAfter !== undefined);
    expect(manager.health().controllers[0]?.queued).toBeGreaterThan(1_000);
    expect((editedAfter ?? 0) - before).toBeLessThan(2_000);
  });

  test("[runtime/RT-08] a slow consumer of thousands of events merges keys, keeps memory bounded and sees the latest state", async () => {
    await using bench = await setUpWorkbench({ isServed: false });
    const { client, namespace } = bench;
    const objects = 50;
    await createMany(client, namespace, objects);
    let passes = 0;
    let written = 0;
    const latest = new Map<string, string | undefined>();
    const recipe = probeRecipe<ConfigMap>(async ({ metadata, data }) => {
      passes += 1;
      // As slow as a hundred events, however fast the machine is.
      const until = Math.min(events, written + 100);
      await eventually(() => written >= until, { everyMs: 5 });
      latest.set(metadata.name, data?.["at"]);
      return undefined;
    });
    const controller = defineController(configMaps, {
      recipe,
      namespace,
      concurrency: 1,
      writesStatus: false,
    });
    const manager = await bench.manage([controller]);
    let deepest = 0;
    const heapBefore = process.memoryUsage().heapUsed;
    await inParallel(events, 48, async (at) => {
      const body = { data: { at: String(at) } };
      await client.patch(
        configMaps,
        { name: `c-${at % objects}`, namespace },
        { patch: { kind: "merge", body } },
      );
      written += 1;
      deepest = Math.max(deepest, manager.health().controllers[0]?.queued ?? 0);
    });
    const { items } = await client.listPage(configMaps, { namespace });
    const want = Object.fromEntries(items.map(({ metadata, data }) => [metadata.name, data?.["at"]]));
    delete want["kube-root-ca.crt"];
    await eventually((see) => {
      const held = see(Object.fromEntries(latest));
      return Object.entries(want).every(([name, at]) => held[name] === at);
    });
    expect(deepest).toBeLessThanOrEqual(objects + 1);
    expect(passes).toBeLessThan(events / 10);
    expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(100e6);
  }, 600_000);
});
