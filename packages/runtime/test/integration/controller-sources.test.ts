import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { mappedFrom } from "../../src/controller/controller-definition.ts";
import { defineController } from "../../src/controller/define-controller.ts";
import { ApiError } from "../../src/errors.ts";
import { settled } from "../../src/reconcile/outcome.ts";
import { configMaps, secrets } from "../support/kinds.ts";
import { probeRecipe } from "../support/probe-recipe.ts";
import { aWidget, type Widget } from "../support/widgets.ts";
import { setUpWorkbench } from "../support/workbench.ts";

describe("what brings a controller back", () => {
  test("mapped kinds and references found in a reconcile do; references that were dropped do not", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const seen: string[] = [];
    const recipe = probeRecipe<Widget>(({ metadata: { name }, spec }, ctx) => {
      const followed =
        spec.text === undefined ? undefined : ctx.follow(secrets, { name: spec.text, namespace });
      seen.push(`${name}:${followed?.metadata.name ?? "-"}`);
      return undefined;
    });
    const byLabel = mappedFrom(configMaps, ({ metadata: { labels } }) =>
      labels?.["widget"] === undefined ? [] : [{ name: labels["widget"], namespace }],
    );
    const controller = defineController(widgets, {
      recipe,
      namespace,
      watches: [byLabel],
      reads: [secrets],
    });
    await bench.manage([controller]);
    const count = async (want: number): Promise<void> => {
      await eventually((see) => see(seen).length >= want);
    };
    const ref = { name: "w", namespace };
    await client.create(widgets, aWidget(widgets, ref, { text: "s" }));
    await count(1);
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace } };
    await client.create(secrets, secret);
    await count(2);
    const metadata = { name: "c", namespace, labels: { widget: "w" } };
    await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata });
    await count(3);
    await client.patch(widgets, ref, { patch: { kind: "merge", body: { spec: { text: null } } } });
    await count(4);
    await client.delete(secrets, { name: "s", namespace });
    await client.delete(configMaps, { name: "c", namespace });
    await count(5);
    expect(seen).toEqual(["w:-", "w:s", "w:s", "w:-", "w:-"]);
  });

  test("a kind that is named twice is heard of by both names", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const seen: string[] = [];
    const recipe = probeRecipe<Widget>(({ metadata: { name } }) => {
      seen.push(name);
      return undefined;
    });
    const toW = (): readonly { name: string; namespace: string }[] => [{ name: "w", namespace }];
    const labelled = { kind: configMaps, namespace, labelSelector: "only=these" };
    const byName = mappedFrom(configMaps, ({ metadata: { name } }) => (name === "other" ? toW() : []));
    const controller = defineController(widgets, {
      recipe,
      namespace,
      watches: [mappedFrom(labelled, toW), byName],
    });
    await bench.manage([controller]);
    await client.create(widgets, aWidget(widgets, { name: "w", namespace }));
    await eventually((see) => see(seen).length === 1);
    await client.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "other", namespace },
    });
    await eventually((see) => see(seen).length === 2);
    await client.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "one", namespace, labels: { only: "these" } },
    });
    await eventually((see) => see(seen).length === 3);
  });

  test("[runtime/RT-20] the finalizer stays while clean-up fails or waits", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    let tries = 0;
    const recipe = probeRecipe<Widget>(() => undefined, {
      finalizer: "example.org/probe",
      cleanUp: async () => {
        tries += 1;
        if (tries < 3) throw new ApiError("no", { class: "transient", mayHaveActed: false });
        return await Promise.resolve(settled());
      },
    });
    await bench.manage([defineController(widgets, { recipe, namespace, retry: { firstMs: 100 } })]);
    const ref = { name: "w", namespace };
    await client.create(widgets, aWidget(widgets, ref));
    await eventually(async () => (await client.get(widgets, ref)).metadata.finalizers?.length === 1);
    await client.delete(widgets, ref);
    await eventually(() => tries >= 1);
    expect(await client.find(widgets, ref)).toBeDefined();
    await eventually(async () => (await client.find(widgets, ref)) === undefined);
    expect(tries).toBe(3);
  });

  test("[runtime/RT-16] changes without end while a reconcile runs lead to one more pass", async () => {
    await using bench = await setUpWorkbench();
    const { client, namespace, widgets } = bench;
    const gate = Promise.withResolvers<undefined>();
    const seen: (string | undefined)[] = [];
    const recipe = probeRecipe<Widget>(async ({ spec }) => {
      seen.push(spec.text);
      if (seen.length === 1) await gate.promise;
      return undefined;
    });
    const manager = await bench.manage([defineController(widgets, { recipe, namespace })]);
    const ref = { name: "busy", namespace };
    await client.create(widgets, aWidget(widgets, ref, { text: "0" }));
    await eventually(() => seen.length === 1);
    let last: Widget | undefined;
    for (let at = 1; at <= 1_000; at += 1) {
      last = await client.patch(widgets, ref, {
        patch: { kind: "merge", body: { spec: { text: String(at) } } },
      });
    }
    const handle = manager.informers.acquire({ kind: widgets, namespace });
    await handle.store.atLeast(last?.metadata.resourceVersion ?? "", { timeoutMs: 30_000 });
    gate.resolve(undefined);
    await eventually(async () => (await client.get(widgets, ref)).status?.observedGeneration === 1_001);
    expect(seen).toEqual(["0", "1000"]);
  });
});
