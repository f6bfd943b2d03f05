import { eventually, startLocalCluster } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { defineController } from "../../src/controller/define-controller.ts";
import { createManager } from "../../src/manager/manager.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { connect, type Connected } from "../support/connect.ts";
import { copyRecipe } from "../support/copy-recipe.ts";
import { type ConfigMap, configMaps } from "../support/kinds.ts";
import { aWidget, serveWidgets, widgetKind } from "../support/widgets.ts";

const system = realSystem();
const namespace = "default";
const ref = { name: "traveller", namespace };

/** What the server has at hand, however old that is. */
async function cached({ client }: Connected): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/configmaps?resourceVersion=0`;
  return JSON.stringify(await client.raw({ method: "GET", path }));
}

test("[faults/S1] a manager restarted against a server that is behind does nothing until that server has caught up", async () => {
  await using cluster = await startLocalCluster({ staleApiServer: true });
  if (cluster.stale === undefined) throw new Error("the second API server is missing");
  const { relay, apiServer: behind } = cluster.stale;
  const { server, caPem, token = "" } = cluster.admin;
  await using fresh = connect({ server, caPem, token });
  await using stale = connect({ server: behind.url, caPem, token });
  const widgets = widgetKind();
  await serveWidgets(fresh.client, widgets);
  let observed: string[] = [];
  const recipe: typeof copyRecipe = {
    ...copyRecipe,
    observe: async (widget, ctx) => {
      observed.push(widget.spec.text ?? "");
      return await copyRecipe.observe(widget, ctx);
    },
  };
  const controllers = [defineController(widgets, { recipe, owns: [configMaps], namespace })];
  const copyOf = async (text: string): Promise<ConfigMap> =>
    await eventually(async (see) => {
      const copy = see(await fresh.client.find(configMaps, ref));
      return copy?.data?.["text"] === text ? copy : undefined;
    });

  const first = createManager({ transport: fresh.transport, system, controllers });
  first.start();
  await fresh.client.create(widgets, aWidget(widgets, ref, { text: "old" }));
  await copyOf("old");
  await eventually(async () => (await cached(stale)).includes('"text":"old"'));
  relay.pause();
  const patch = { kind: "merge", body: { spec: { text: "new" } } } as const;
  await fresh.client.patch(widgets, ref, { patch });
  const { metadata: written } = await copyOf("new");
  await first.stop();
  observed = [];

  await using second = createManager({ transport: stale.transport, system, controllers });
  second.start();
  expect(await cached(stale)).toContain('"text":"old"');
  await expect(second.ready({ timeoutMs: 5_000 })).rejects.toThrow("5000 ms");
  expect(observed).toEqual([]);

  relay.resume();
  await second.ready({ timeoutMs: 60_000 });
  await eventually((see) => see(observed).length > 0, { withinMs: 30_000 });
  expect(new Set(observed)).toEqual(new Set(["new"]));
  expect((await fresh.client.get(configMaps, ref)).metadata.resourceVersion).toBe(written.resourceVersion);
});
