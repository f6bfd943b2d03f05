import { eventually, joinSharedCluster, makeIdentity } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { InformerPool } from "../../src/informers/informer-pool.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { connect } from "../support/connect.ts";
import { configMaps, customResourceDefinitions } from "../support/kinds.ts";
import { aWidget, serveWidgets } from "../support/widgets.ts";
import { setUpWorkbench } from "../support/workbench.ts";

describe("informers of kinds that come and go", () => {
  test("[runtime/RT-12] [faults/E8] stay pending, sync when the definition comes, and do so again after it was deleted", async () => {
    await using bench = await setUpWorkbench({ isServed: false });
    const { client, namespace, widgets, transport } = bench;
    const restarts: string[] = [];
    await using pool = new InformerPool({
      transport,
      system: realSystem(),
      freeze: true,
      observer: { watchRestarted: ({ kind, why }) => restarts.push(`${kind} ${why}`) },
    });
    const handle = pool.acquire({ kind: widgets, namespace });
    await handle.synced;
    expect(handle.state).toBe("pending");
    expect(handle.store.isSynced).toBe(false);

    const names = (): readonly string[] => handle.store.list().map(({ metadata }) => metadata.name);
    for (const name of ["first", "second"]) {
      await serveWidgets(client, widgets);
      await client.create(widgets, aWidget(widgets, { name, namespace }));
      await eventually(
        (see) => see({ names: names(), state: handle.state, restarts }).names.join() === name,
        {
          withinMs: 20_000,
        },
      );
      expect(handle.state).toBe("watching");
      await client.delete(customResourceDefinitions, { name: `widgets.${widgets.group}` });
      await eventually((see) => see({ state: handle.state, restarts }).state === "pending");
      expect(names()).toEqual([]);
    }
    expect(restarts.length).toBeLessThan(60);
  });

  test("[runtime/RT-12] find a new kind also where watching definitions is forbidden, and request them once only", async () => {
    await using bench = await setUpWorkbench({ isServed: false });
    const { client, namespace, widgets } = bench;
    using cluster = joinSharedCluster();
    const verbs = ["get", "list", "watch"];
    const clusterRules = [{ apiGroups: [widgets.group], resources: ["widgets"], verbs }];
    const identity = await makeIdentity(cluster.api, cluster.admin, { namespace, clusterRules });
    await using limited = connect(identity);
    const position = await bench.audit.position();
    await using pool = new InformerPool({ transport: limited.transport, system: realSystem(), freeze: true });
    const handle = pool.acquire({ kind: widgets, namespace });
    await handle.synced;
    await serveWidgets(client, widgets);
    await handle.store.synced({ signal: AbortSignal.timeout(20_000) });
    const requested = await bench.audit.since(position, {
      user: identity.user,
      resource: "customresourcedefinitions",
    });
    expect(requested.map(({ code }) => code)).toEqual([403]);
  });

  test("one informer serves all who request the same, and ends with the last of them", async () => {
    await using bench = await setUpWorkbench({ isServed: false });
    const { client, namespace, transport } = bench;
    await using pool = new InformerPool({ transport, system: realSystem() });
    const position = await bench.audit.position();
    const first = pool.acquire({ kind: configMaps, namespace });
    const second = pool.acquire({ kind: configMaps, namespace });
    expect(second.store).toBe(first.store);
    await first.synced;
    await first[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    await client.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", namespace },
    });
    await eventually(() => second.store.get({ name: "a", namespace }) !== undefined);
    await second[Symbol.asyncDispose]();
    expect(pool.report()).toEqual([]);
    expect(await bench.audit.countByVerb(position, { namespace, resource: "configmaps" })).toMatchObject({
      watch: 1,
    });
  });

  test("metadata-only stores hold metadata, projected ones what was requested", async () => {
    await using bench = await setUpWorkbench({ isServed: false });
    const { client, namespace, transport } = bench;
    const metadata = { name: "a", namespace, labels: { app: "web" } };
    await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data: { large: "x" } });
    await using pool = new InformerPool({ transport, system: realSystem(), freeze: true });
    const bare = pool.acquire({ kind: configMaps, namespace, isMetadataOnly: true });
    const project = ({
      apiVersion,
      kind,
      metadata: kept,
    }: {
      apiVersion: string;
      kind: string;
      metadata: object;
    }) => ({ apiVersion, kind, metadata: kept, size: 1 }) as never;
    const small = pool.acquire({
      kind: configMaps,
      namespace,
      projection: { name: "size", project },
      internStrings: true,
    });
    await Promise.all([bare.synced, small.synced]);
    const stored = bare.store.get({ name: "a", namespace });
    expect(stored).toMatchObject({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { labels: { app: "web" } },
    });
    expect(stored).not.toHaveProperty("data");
    expect(stored?.metadata).not.toHaveProperty("managedFields");
    expect(small.store.get({ name: "a", namespace })).toMatchObject({ size: 1 });
  });

  test("a store answers with our own write before the watch tells of it", async () => {
    await using bench = await setUpWorkbench({ isServed: false });
    const { client, namespace, transport } = bench;
    await using pool = new InformerPool({ transport, system: realSystem(), freeze: true });
    const handle = pool.acquire({ kind: configMaps, namespace });
    await handle.synced;
    const metadata = { name: "mine", namespace };
    const written = await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata });
    pool.noteWrite(configMaps, written);
    expect(handle.store.get(metadata)?.metadata.uid).toBe(written.metadata.uid);
    await handle.store.atLeast(written.metadata.resourceVersion ?? "", { timeoutMs: 10_000 });
    expect(handle.store.get(metadata)?.metadata.uid).toBe(written.metadata.uid);
  });

  test("a store of one namespace does not answer with what was written to another", async () => {
    await using bench = await setUpWorkbench({ isServed: false });
    const { client, namespace, transport } = bench;
    await using pool = new InformerPool({ transport, system: realSystem(), freeze: true });
    const here = pool.acquire({ kind: configMaps, namespace });
    const there = pool.acquire({ kind: configMaps, namespace: "kube-system" });
    const other = pool.acquire({ kind: { ...configMaps, version: "v2" }, namespace });
    await Promise.all([here.synced, there.synced, other.synced]);
    const metadata = { name: "mine", namespace };
    const written = await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata });
    pool.noteWrite(configMaps, written);
    expect([here, there, other].map(({ store }) => store.get(metadata) !== undefined)).toEqual([
      true,
      false,
      false,
    ]);
  });
});
