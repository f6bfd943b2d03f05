import { eventually, WRITING_VERBS } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { defineController } from "../../src/controller/define-controller.ts";
import { configMaps } from "../../src/kinds/index.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { aWidget, conditionOf, type Widget } from "../support/widgets.ts";
import { setUpWorkbench, type Workbench } from "../support/workbench.ts";

/** Keeps one ConfigMap per widget, with one key per word of the text. */
async function manageCopies(bench: Workbench, seen: string[] = []): Promise<void> {
  const controller = defineController(bench.widgets, {
    namespace: bench.namespace,
    owns: [configMaps],
    reconcile: async ({ metadata: { name }, spec: { text = "" } }, ctx) => {
      seen.push(text);
      const data = Object.fromEntries(text.split(" ").map((terms) => [terms, terms]));
      await ctx.apply(configMaps, { metadata: { name, labels: { made: "yes" } }, data });
    },
  });
  await bench.manage([controller]);
}

function dataOf(bench: Workbench, name: string, want: object): Promise<true> {
  const ref = { name, namespace: bench.namespace };
  return eventually(async (see) => {
    expect(see((await bench.client.find(configMaps, ref))?.data)).toEqual(want);
    return true;
  });
}

describe("ctx.apply", () => {
  test("makes, follows, takes away and restores what a controller declares, and else writes nothing", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const reconciled: string[] = [];
    await manageCopies(bench, reconciled);
    const ref = { name: "one", namespace };
    await client.create(widgets, aWidget(widgets, ref, { text: "a b" }));
    await dataOf(bench, "one", { a: "a", b: "b" });
    const { ownerReferences } = (await client.get(configMaps, ref)).metadata;
    expect(ownerReferences).toMatchObject([{ name: "one", controller: true }]);

    await client.patch(widgets, ref, { patch: { kind: "merge", body: { spec: { text: "b" } } } });
    await dataOf(bench, "one", { b: "b" });

    await client.patch(configMaps, ref, {
      patch: { kind: "merge", body: { data: { b: "drift", extra: "theirs" } } },
    });
    await dataOf(bench, "one", { b: "b", extra: "theirs" });

    const position = await bench.audit.position();
    const count = reconciled.length;
    await client.patch(widgets, ref, {
      patch: { kind: "merge", body: { metadata: { labels: { a: "b" } } } },
    });
    await eventually(() => reconciled.length > count);
    await realSystem().sleep(300);
    expect(await bench.audit.since(position, { user: bench.operator, verbs: WRITING_VERBS })).toEqual([]);
  });

  test("finds a field that an earlier process applied and that is no longer declared", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const ref = { name: "one", namespace };
    const { metadata } = await client.create(widgets, aWidget(widgets, ref, { text: "b" }));
    const ownerReferences = [
      {
        apiVersion: `${widgets.group}/${widgets.version}`,
        kind: widgets.kind,
        name: "one",
        uid: metadata.uid ?? "",
        controller: true,
        blockOwnerDeletion: true,
      },
    ];
    await client.apply(
      configMaps,
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { ...ref, labels: { made: "yes" }, ownerReferences },
        data: { a: "a", b: "b" },
      },
      { fieldManager: widgets.plural, force: true },
    );
    await manageCopies(bench);
    expect(await dataOf(bench, "one", { b: "b" })).toBe(true);
  });

  test("leaves an object of the same name alone that has no owner, and says so", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const ref = { name: "one", namespace };
    await client.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: ref,
      data: { mine: "yes" },
    });
    await manageCopies(bench);
    await client.create(widgets, aWidget(widgets, ref, { text: "a" }));
    const ready = await eventually(async (see) => {
      const widget: Widget = see(await client.get(widgets, ref));
      return conditionOf(widget, "Ready");
    });
    expect(ready).toMatchObject({ status: "False", reason: "NameTaken" });
    expect((await client.get(configMaps, ref)).data).toEqual({ mine: "yes" });
  });
});
