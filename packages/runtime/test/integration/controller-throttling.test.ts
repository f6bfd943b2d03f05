import { eventually, startFaultProxy, tooManyRequests } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { defineController } from "../../src/controller/define-controller.ts";
import { configMaps } from "../../src/kinds/index.ts";
import { connect } from "../support/connect.ts";
import { aWidget, conditionOf } from "../support/widgets.ts";
import { setUpWorkbench } from "../support/workbench.ts";

const count = 1_000;

test("[faults/51] a start with 1,000 objects makes at most 20 requests a second, and Retry-After is waited for", async () => {
  await using bench = await setUpWorkbench();
  const { client, namespace, widgets } = bench;
  let reconciles = 0;
  const controller = defineController(widgets, {
    namespace,
    owns: [configMaps],
    concurrency: 8,
    reconcile: async ({ metadata: { name }, spec: { text = "" } }, ctx) => {
      reconciles += 1;
      if (text !== "") await ctx.apply(configMaps, { metadata: { name }, data: { text } });
    },
  });
  const numbers = Array.from({ length: count }, (_, at) => at).values();
  const lane = async (): Promise<void> => {
    for (const at of numbers) await client.create(widgets, aWidget(widgets, { name: `w-${at}`, namespace }));
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  const first = await bench.manage([controller]);
  const isReady = async (name: string): Promise<boolean> =>
    conditionOf(await client.get(widgets, { name, namespace }), "Ready")?.status === "True";
  await eventually(() => reconciles >= count);
  await eventually(async () => {
    const { items } = await client.listPage(widgets, { namespace, pageSize: count });
    return items.every((widget) => conditionOf(widget, "Ready")?.status === "True");
  });
  await first.stop();

  await using proxy = await startFaultProxy({ upstream: bench.admin });
  await using link = connect({ ...bench.operatorAccess, ...proxy.access });
  reconciles = 0;
  await bench.manage([controller], { transport: link.transport });
  await eventually(() => reconciles >= count);
  // All requests of the start, not only those of its worst second.
  expect(
    proxy.trace.map(({ verb, path }) => `${verb} ${path.split("?")[0] ?? ""}`).length,
  ).toBeLessThanOrEqual(20);

  const isChild = ({ resource, verb }: { readonly resource: string; readonly verb: string }): boolean =>
    resource === "configmaps" && verb === "patch";
  const throttled = proxy.inject(isChild, tooManyRequests(3));
  await client.patch(
    widgets,
    { name: "w-7", namespace },
    { patch: { kind: "merge", body: { spec: { text: "new" } } } },
  );
  await throttled.struck;
  const sinceMs = performance.now();
  await eventually(async () => (await client.find(configMaps, { name: "w-7", namespace })) !== undefined);
  expect(performance.now() - sinceMs).toBeGreaterThan(2_900);
  expect(proxy.trace.filter(isChild).map(({ status }) => status)).toEqual([429, 201]);
  await eventually(async () => await isReady("w-7"));
});
