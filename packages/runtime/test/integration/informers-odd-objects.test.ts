import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { defineController } from "../../src/controller/define-controller.ts";
import { eventKind } from "../../src/events/event-object.ts";
import { alwaysLeader, type LeaderElector } from "../../src/leader/leader-elector.ts";
import { parseJson } from "../../src/transport/parse-json.ts";
import { configMaps } from "../support/kinds.ts";
import { probeRecipe } from "../support/probe-recipe.ts";
import { aWidget, conditionOf, type Widget } from "../support/widgets.ts";
import { setUpWorkbench } from "../support/workbench.ts";

describe("[runtime/RT-05] objects at the limits", () => {
  test("one of 1.4 MB is stored; one nested 9,000 deep is left out with an event; others are unaffected", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const large = { name: "large", namespace };
    const deep = { name: "deep", namespace };
    const sizes = new Map<string, number>();
    const recipe = probeRecipe<Widget>((widget, ctx) => {
      const { data } = ctx.store(configMaps).get(large) ?? {};
      sizes.set(widget.metadata.name, data?.["text"]?.length ?? 0);
      return undefined;
    });
    const text = "x".repeat(1_040_000);
    await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: large, data: { text } });
    const spec = parseJson(`{"nested":${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}}`) as object;
    await client.create(widgets, aWidget(widgets, deep, { ...spec }));
    await client.create(
      widgets,
      aWidget(widgets, { name: "huge", namespace }, { text: "y".repeat(1_400_000) }),
    );
    await bench.manage([defineController(widgets, { recipe, reads: [configMaps], namespace })], {
      freeze: true,
    });
    await client.create(widgets, aWidget(widgets, { name: "plain", namespace }));
    await eventually((see) => see([...sizes.keys()]).length === 2);
    expect(Object.fromEntries(sizes)).toEqual({ huge: 1_040_000, plain: 1_040_000 });
    const event = await eventually(async () => {
      const { items } = await client.listPage(eventKind, { namespace });
      return items.find(({ regarding }) => regarding.name === "deep");
    });
    expect(event).toMatchObject({ type: "Warning", reason: "ObjectUnusable" });
    const mended = await client.patch(widgets, deep, {
      patch: { kind: "json", operations: [{ op: "replace", path: "/spec", value: { text: "flat" } }] },
    });
    await eventually(async () => {
      const widget = await client.get(widgets, deep);
      return conditionOf(widget, "Ready")?.observedGeneration === mended.metadata.generation;
    });
  });

  test("what a stand-by leaves out is reported once it leads", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const spec = parseJson(`{"nested":${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}}`) as object;
    await client.create(widgets, aWidget(widgets, { name: "deep", namespace }, { ...spec }));
    const elected = Promise.withResolvers<undefined>();
    let isLeading = false;
    const leaderElection: LeaderElector = {
      run: async (signal, onStart, onStop) => {
        await elected.promise;
        isLeading = true;
        await alwaysLeader.run(signal, onStart, onStop);
      },
      writeBudgetMs: () => (isLeading ? 10_000 : 0),
    };
    const recipe = probeRecipe<Widget>(() => undefined);
    const manager = await bench.manage([defineController(widgets, { recipe, namespace })], {
      leaderElection,
    });
    await eventually(() => manager.informers.quarantined().length > 0);
    elected.resolve(undefined);
    await eventually(async (see) => {
      const { items } = see(await client.listPage(eventKind, { namespace }));
      return items.some(({ regarding, reason }) => regarding.name === "deep" && reason === "ObjectUnusable");
    });
  });
});
