import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { InformerPool } from "../../src/informers/informer-pool.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { connect } from "../support/connect.ts";
import { startCuttingProxy } from "../support/cutting-proxy.ts";
import { hurriedSystem } from "../support/hurried-system.ts";
import { configMaps } from "../support/kinds.ts";
import { noteConfigMaps, picture } from "../support/noted-events.ts";
import { setUpWorkbench } from "../support/workbench.ts";

const mine = { fieldManager: "test", force: true } as const;

describe("informers on a bad network", () => {
  test("[runtime/RT-03] a stream that is cut at ever other bytes leads to the same store", async () => {
    await using bench = await setUpWorkbench({ isServed: false });
    await using proxy = await startCuttingProxy(bench.admin.server);
    await using watching = connect({ ...bench.admin, server: proxy.url });
    let bytes = 4_000;
    proxy.limit(() => (bytes += 137));
    await using pool = new InformerPool({
      transport: watching.transport,
      system: realSystem(),
      freeze: true,
    });
    const { handle } = noteConfigMaps(pool, bench.namespace);
    await handle.synced;
    for (let at = 0; proxy.connections < 12; at += 1) {
      const metadata = { name: `c${at % 20}`, namespace: bench.namespace };
      const data = { text: `ä€𝄞 ${at} `.repeat(40) };
      await bench.client.apply(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data }, mine);
      if (at % 7 === 3) await bench.client.delete(configMaps, metadata);
      await realSystem().sleep(10);
    }
    proxy.limit(undefined);
    const { items } = await bench.client.listPage(configMaps, { namespace: bench.namespace });
    await eventually((see) => {
      see({ held: picture(handle.store.list()), want: picture(items), connections: proxy.connections });
      return picture(handle.store.list()).join() === picture(items).join();
    });
    expect(proxy.connections).toBeGreaterThanOrEqual(12);
  });

  test("[runtime/RT-04] [faults/9,W6] a silent connection is found by the idle timer and replaced without a relist", async () => {
    await using bench = await setUpWorkbench({ isServed: false });
    await using proxy = await startCuttingProxy(bench.admin.server);
    await using watching = connect({ ...bench.admin, server: proxy.url });
    const why: string[] = [];
    await using pool = new InformerPool({
      transport: watching.transport,
      // The idle time is the shipped one.
      system: hurriedSystem(40),
      freeze: true,
      observer: { watchRestarted: (event) => why.push(event.why), relisted: () => why.push("relist") },
    });
    const { handle, heard } = noteConfigMaps(pool, bench.namespace);
    await handle.synced;
    const position = await bench.audit.position();
    proxy.silence();
    const metadata = { name: "missed", namespace: bench.namespace };
    await bench.client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata });
    await eventually((see) => see(heard).includes("added missed"), { withinMs: 15_000 });
    expect(why[0]).toBe("idle");
    expect(why).not.toContain("relist");
    const requested = await bench.audit.since(position, {
      namespace: bench.namespace,
      resource: "configmaps",
    });
    const watches = requested.filter(({ verb }) => verb === "watch").map(({ path }) => path);
    expect(watches.length).toBeGreaterThan(0);
    expect(
      watches.every((path) => path.includes("resourceVersion=") && !path.includes("sendInitialEvents")),
    ).toBe(true);
    expect(requested.filter(({ verb }) => verb === "list")).toEqual([]);
  });
});
