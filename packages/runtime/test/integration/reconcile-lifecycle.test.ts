import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { defineController } from "../../src/controller/define-controller.ts";
import { settled, waiting } from "../../src/reconcile/outcome.ts";
import { copyFinalizer, copyRecipe } from "../support/copy-recipe.ts";
import { configMaps } from "../support/kinds.ts";
import { probeRecipe } from "../support/probe-recipe.ts";
import { aWidget, conditionOf, type Widget } from "../support/widgets.ts";
import { setUpWorkbench } from "../support/workbench.ts";

describe("a controller on a real API server", () => {
  test("[runtime/RT-20] claims, makes the child, and lets go only after clean-up", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    await bench.manage([defineController(widgets, { recipe: copyRecipe, owns: [configMaps], namespace })]);
    const ref = { name: "one", namespace };
    const position = await bench.audit.position();
    await client.create(widgets, aWidget(widgets, ref, { text: "hello" }));

    const ready = await eventually(async (see) => {
      const widget = see(await client.get(widgets, ref));
      return conditionOf(widget, "Ready")?.status === "True" ? widget : undefined;
    });
    expect(ready.metadata.finalizers).toEqual([copyFinalizer]);
    expect(ready.status?.observedGeneration).toBe(1);
    expect(ready.status?.["text"]).toBe("hello");
    expect((await client.get(configMaps, ref)).data).toEqual({ text: "hello" });

    await client.delete(configMaps, ref);
    await eventually(async () => (await client.find(configMaps, ref)) !== undefined);
    await client.delete(widgets, ref);
    await eventually(async () => (await client.find(widgets, ref)) === undefined);
    expect(await client.find(configMaps, ref)).toBeUndefined();

    const writes = await bench.audit.since(position, {
      namespace,
      verbs: ["patch", "delete"],
      user: bench.operator,
    });
    const order = writes.map(({ verb, resource, subresource }) =>
      [verb, resource, subresource].join(" ").trim(),
    );
    expect(order[0]).toBe("patch widgets");
    expect(order.indexOf("patch configmaps")).toBeGreaterThan(0);
    expect(order.lastIndexOf("patch widgets")).toBeGreaterThan(order.lastIndexOf("delete configmaps"));
  });

  test("a clean-up that waits says so in the status and keeps the finalizer", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    let isDone = false;
    const recipe = probeRecipe<Widget>(() => undefined, {
      finalizer: copyFinalizer,
      cleanUp: async () =>
        await Promise.resolve(
          isDone ? settled() : waiting({ reason: "Draining", message: "One volume is left." }, 100),
        ),
    });
    await bench.manage([defineController(widgets, { recipe, namespace })]);
    const ref = { name: "one", namespace };
    await client.create(widgets, aWidget(widgets, ref));
    await eventually(async (see) => {
      const widget = see(await client.get(widgets, ref));
      return conditionOf(widget, "Ready")?.status === "True";
    });
    await client.delete(widgets, ref);
    const leaving = await eventually(async (see) => {
      const widget = see(await client.get(widgets, ref));
      return conditionOf(widget, "Ready")?.reason === "Draining" ? widget : undefined;
    });
    expect(conditionOf(leaving, "Ready")).toMatchObject({ status: "False", message: "One volume is left." });
    expect(leaving.metadata.finalizers).toEqual([copyFinalizer]);
    isDone = true;
    await eventually(async () => (await client.find(widgets, ref)) === undefined);
  });
});
