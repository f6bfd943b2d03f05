import { eventually, WRITING_VERBS } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { defineController } from "../../src/controller/define-controller.ts";
import { type Outcome, settled, stalled, waiting } from "../../src/reconcile/outcome.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { VirtualSystem } from "../../src/testing/virtual-system.ts";
import { parseJson } from "../../src/transport/parse-json.ts";
import { copyRecipe } from "../support/copy-recipe.ts";
import { configMaps } from "../support/kinds.ts";
import { probeRecipe } from "../support/probe-recipe.ts";
import { aWidget, conditionOf, type Widget } from "../support/widgets.ts";
import { setUpWorkbench } from "../support/workbench.ts";

const outcomes: Readonly<Record<string, Outcome>> = {
  settled: settled(),
  stalled: stalled({ reason: "BadText", message: "The text is bad." }),
  waiting: waiting({ reason: "NotYet", message: "The text is not there yet." }, 3_600_000),
};

describe("the status of an object", () => {
  test("[runtime/RT-21] is written only when it differs, and a condition keeps its time unless it flips", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const recipe = probeRecipe<Widget>(({ spec }) => outcomes[spec.text ?? ""]);
    const system = { ...realSystem(), wallMs: () => wallMs };
    let wallMs = Date.UTC(2030, 0, 1);
    await bench.manage([defineController(widgets, { recipe, namespace })], { system });
    const ref = { name: "one", namespace };
    const reach = async (text: string, annotation: string): Promise<Widget> => {
      const body = { metadata: { annotations: { annotation } }, spec: { text } };
      const { metadata } = await client.patch(widgets, ref, { patch: { kind: "merge", body } });
      return await eventually(async (see) => {
        const widget = see(await client.get(widgets, ref));
        return widget.status?.observedGeneration === metadata.generation ? widget : undefined;
      });
    };
    await client.create(widgets, aWidget(widgets, ref, { text: "settled" }));
    const one = await reach("settled", "1");
    expect(one.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
      "Ready=True",
      "Reconciling=False",
      "Stalled=False",
    ]);
    const position = await bench.audit.position();
    wallMs += 60_000;
    const body = { metadata: { annotations: { annotation: "2" } } };
    await client.patch(widgets, ref, { patch: { kind: "merge", body } });
    await realSystem().sleep(500);
    expect(await bench.audit.since(position, { user: bench.operator, verbs: WRITING_VERBS })).toEqual([]);

    const waited = await reach("waiting", "3");
    expect(conditionOf(waited, "Ready")).toMatchObject({
      status: "False",
      lastTransitionTime: "2030-01-01T00:01:00Z",
    });
    expect(conditionOf(waited, "Stalled")?.lastTransitionTime).toBe("2030-01-01T00:00:00Z");
    wallMs += 60_000;
    const stuck = await reach("stalled", "4");
    expect(conditionOf(stuck, "Ready")).toMatchObject({
      reason: "BadText",
      lastTransitionTime: "2030-01-01T00:01:00Z",
      observedGeneration: 3,
    });
    expect(conditionOf(stuck, "Stalled")).toMatchObject({
      status: "True",
      lastTransitionTime: "2030-01-01T00:02:00Z",
    });
    const writes = await bench.audit.since(position, { user: bench.operator, verbs: WRITING_VERBS });
    expect(writes.map(({ verb, subresource }) => `${verb} ${subresource}`)).toEqual([
      "patch status",
      "patch status",
    ]);
  });

  test("[runtime/RT-06] strange keys survive the store and the writing of status", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const strange = parseJson(
      '{"__proto__":{"x":"1"},"constructor":"2","toString":"3","big":9223372036854775807}',
    ) as object;
    const ref = { name: "strange", namespace };
    const recipe = {
      ...copyRecipe,
      rules: [
        {
          name: "echo",
          decide: ({ widget }: { readonly widget: Widget }) => ({
            actions: [],
            outcome: settled(),
            status: { echo: widget.spec["strange"] },
          }),
        },
      ],
    };
    await bench.manage([defineController(widgets, { recipe, owns: [configMaps], namespace })]);
    await client.create(widgets, aWidget(widgets, ref, { strange }));
    const widget = await eventually(async () => {
      const found = await client.get(widgets, ref);
      return conditionOf(found, "Ready") === undefined ? undefined : found;
    });
    const want = '{"__proto__":{"x":"1"},"big":9223372036854775807,"constructor":"2","toString":"3"}';
    expect(JSON.stringify(widget.status?.["echo"])).toBe(want);
    const position = await bench.audit.position();
    await client.patch(widgets, ref, {
      patch: { kind: "merge", body: { metadata: { labels: { touched: "yes" } } } },
    });
    await realSystem().sleep(500);
    expect(await bench.audit.since(position, { user: bench.operator, verbs: WRITING_VERBS })).toEqual([]);
  });

  test("[runtime/RT-19] a settled object costs nothing for ten minutes but watches", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const system = new VirtualSystem({ startMs: Date.now() });
    const controller = defineController(widgets, { recipe: copyRecipe, owns: [configMaps], namespace });
    await bench.manage([controller], { system, freeze: true });
    for (const name of ["a", "b", "c"])
      await client.create(widgets, aWidget(widgets, { name, namespace }, { text: name }));
    await eventually(async () => {
      await system.advance(50);
      const { items } = await client.listPage(widgets, { namespace });
      return items.length === 3 && items.every((item) => conditionOf(item, "Ready")?.status === "True");
    });
    // Events about the copies are still in progress.
    for (let at = 0; at < 20; at += 1) {
      await realSystem().sleep(50);
      await system.advance(50);
    }
    const position = await bench.audit.position();
    for (let second = 0; second < 600; second += 5) {
      await system.advance(5_000);
      await realSystem().sleep(5);
    }
    const requested = await bench.audit.since(position, { user: bench.operator });
    expect(
      requested.filter(({ verb }) => verb !== "watch").map(({ verb, path }) => `${verb} ${path}`),
    ).toEqual([]);
  });
});
