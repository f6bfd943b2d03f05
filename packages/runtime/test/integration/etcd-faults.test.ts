import { cp, rm } from "node:fs/promises";
import { join } from "node:path";

import { eventually, type LocalCluster, startFaultProxy, startLocalCluster } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Client } from "../../src/client/client.ts";
import { defineController } from "../../src/controller/define-controller.ts";
import { InformerPool } from "../../src/informers/informer-pool.ts";
import { createManager } from "../../src/manager/manager.ts";
import type { Log } from "../../src/reconcile/log.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { connect } from "../support/connect.ts";
import { type ConfigMap, configMaps, secrets, serviceAccounts } from "../support/kinds.ts";
import { noteConfigMaps, picture } from "../support/noted-events.ts";
import { aWidget, serveWidgets, type Widget, widgetKind } from "../support/widgets.ts";

let cluster: LocalCluster;

beforeAll(async () => {
  // An API server that stops waits this long for requests that do not end, a minute by default.
  cluster = await startLocalCluster({
    kwokNodes: 0,
    staleApiServer: true,
    apiServerArguments: ["--request-timeout=15s"],
  });
});

afterAll(async () => {
  await cluster.stop();
});

const system = realSystem();
const namespace = "default";
const ownerLabel = "tests.quartermaster.dev/owner";

async function write(client: Client, name: string, text: string): Promise<void> {
  await client.apply(
    configMaps,
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { text } },
    { fieldManager: "test", force: true },
  );
}

/** Children of a widget: their names are the server's, so that a repeated create makes another one. */
async function children(client: Client, owner: string): Promise<readonly ConfigMap[]> {
  const labelSelector = `${ownerLabel}=${owner}`;
  return (await client.listPage(configMaps, { namespace, labelSelector, pageSize: 500 })).items;
}

/** Makes as many children as the widget says, one after the other, and believes only what it reads. */
async function makeChildren(widget: Widget, { client }: { readonly client: Client }): Promise<void> {
  const { name } = widget.metadata;
  while ((await children(client, name)).length < Number(widget.spec["count"])) {
    const metadata = { generateName: `${name}-`, namespace, labels: { [ownerLabel]: name } };
    await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata } as never);
  }
}

describe("a control plane whose parts end", () => {
  test.each([
    {
      name: "[faults/4] etcd killed for 3 s",
      strike: async () => {
        await cluster.etcd.kill();
        await system.sleep(3_000);
        await cluster.etcd.restart();
      },
    },
    {
      name: "[faults/1] the API server killed and restarted",
      strike: async () => {
        await cluster.apiServer.kill();
        await cluster.apiServer.restart();
      },
    },
  ])(
    "$name: watches live within 10 s without a needless list, writes without a known outcome are neither doubled nor lost",
    async ({ strike }) => {
      await using connected = connect(cluster.admin);
      const { client, transport } = connected;
      const widgets = widgetKind();
      await serveWidgets(client, widgets);
      const relists: string[] = [];
      const expired: string[] = [];
      const observer = {
        relisted: ({ kind }: { readonly kind: string }) => relists.push(kind),
        watchRestarted: ({ kind, why }: { readonly kind: string; readonly why: string }) => {
          if (why === "gone") expired.push(kind);
        },
      };
      await using pool = new InformerPool({ transport, system, freeze: true, observer });
      const { handle, heard } = noteConfigMaps(pool, namespace);
      await handle.synced;
      const controllers = [defineController(widgets, { namespace, concurrency: 8, reconcile: makeChildren })];
      await using manager = createManager({ transport, system, controllers });
      manager.start();
      await manager.ready();
      const owners = Array.from({ length: 8 }, (_, at) => `w${at}-${widgets.group.slice(1, 9)}`);
      for (const name of owners)
        await client.create(widgets, aWidget(widgets, { name, namespace }, { count: 60 }));
      const counts = async (): Promise<readonly number[]> =>
        await Promise.all(owners.map(async (name) => (await children(client, name)).length));
      await eventually(async () => (await counts()).every((count) => count > 3), { everyMs: 10 });

      await strike();
      const back = `back-${owners[0] ?? ""}`;
      await eventually(async () => {
        await write(client, back, "text");
        return true;
      });
      await eventually((see) => see(heard).includes(`added ${back}`), { withinMs: 10_000 });
      await eventually(async (see) => see(await counts()).every((count) => count >= 60));
      await manager.stop();
      expect(await counts()).toEqual(owners.map(() => 60));
      // A restarted server keeps no history from before: a watch that missed the last events gets 410 and has to list.
      expect(relists).toEqual(expired);
    },
  );

  test("[faults/2] an API server that is stopped gently: each watch reconnects once, and nothing is logged as an error", async () => {
    await using proxy = await startFaultProxy({
      upstream: cluster.admin,
      ...(cluster.stale === undefined ? {} : { staleServer: cluster.stale.apiServer.url }),
    });
    const { token = "" } = cluster.admin;
    await using watching = connect({ ...proxy.access, token });
    await using acting = connect({ ...cluster.admin, server: cluster.stale?.apiServer.url ?? "" });
    const complaints: string[] = [];
    const ignore = (): void => undefined;
    const complain = (message: string): void => {
      complaints.push(message);
    };
    const log: Log = {
      isDebug: false,
      debug: ignore,
      info: ignore,
      warn: complain,
      error: complain,
      with: () => log,
    };
    const seen: string[] = [];
    const controller = defineController(configMaps, {
      namespace,
      owns: [secrets, serviceAccounts],
      writesStatus: false,
      reconcile: async ({ metadata }) => {
        await Promise.resolve();
        seen.push(metadata.name);
      },
    });
    await using manager = createManager({
      transport: watching.transport,
      system,
      controllers: [controller],
      log,
    });
    manager.start();
    await manager.ready();
    const watches = (): readonly string[] =>
      proxy.trace.filter(({ verb }) => verb === "watch").map(({ resource }) => resource);
    const before = watches();
    expect(before).toHaveLength(3);
    // As behind an address of two servers: the other one takes what is new.
    proxy.inject(() => true, { kind: "answer-stale" }, Number.POSITIVE_INFINITY);
    process.kill(cluster.apiServer.pid, "SIGTERM");
    await eventually(() => !cluster.apiServer.isRunning());
    await eventually((see) => see(watches()).length >= 6);
    await write(acting.client, "later", "text");
    await eventually((see) => see(seen).includes("later"), { withinMs: 20_000 });
    expect(watches().slice(3).toSorted()).toEqual(before.toSorted());
    expect(complaints).toEqual([]);
    await manager.stop();
    await cluster.apiServer.restart();
  });

  test("[faults/5,W5] etcd restored from an older snapshot: what was held is dropped and listed again within 60 s", async () => {
    await using connected = connect(cluster.admin);
    const { client, transport } = connected;
    for (const name of ["kept", "changed", "removed"]) await write(client, name, "before");
    const data = join(cluster.directory, "etcd");
    const snapshot = join(cluster.directory, "etcd-snapshot");
    await cluster.etcd.kill();
    await cp(data, snapshot, { recursive: true });
    await cluster.etcd.restart();
    await eventually(async () => {
      await write(client, "changed", "after");
      return true;
    });
    await client.delete(configMaps, { name: "removed", namespace });
    // A server that starts writes a few hundred times itself: the versions that we have seen are to stay ahead of it.
    for (let at = 0; at < 1_500; at += 1) await write(client, "lost", String(at));
    const why: string[] = [];
    const observer = { watchRestarted: (event: { readonly why: string }) => why.push(event.why) };
    await using pool = new InformerPool({ transport, system, freeze: true, observer });
    const { handle, heard } = noteConfigMaps(pool, namespace);
    await handle.synced;
    const held = heard.length;

    await cluster.apiServer.kill();
    await cluster.stale?.apiServer.kill();
    await cluster.etcd.kill();
    await rm(data, { recursive: true });
    await cp(snapshot, data, { recursive: true });
    await cluster.etcd.restart();
    await cluster.apiServer.restart();
    await eventually((see) => see({ why, heard: heard.slice(held) }).heard.includes("deleted lost"), {
      withinMs: 60_000,
    });
    const listed = await client.listPage(configMaps, { namespace, pageSize: 2_000 });
    await eventually((see) => see(picture(handle.store.list())).join() === picture(listed.items).join());
    const text = (name: string): unknown => handle.store.get({ name, namespace })?.data?.["text"];
    expect([text("changed"), text("removed"), text("lost")]).toEqual(["before", "before", undefined]);
    expect(why).toContain("versionTooLarge");
    await write(client, "changed", "again");
    await eventually(() => text("changed") === "again");
  });
});
