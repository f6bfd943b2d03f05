import { randomInt } from "node:crypto";

import { eventually, type LocalCluster, startLocalCluster } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Client } from "../../src/client/client.ts";
import { InformerPool } from "../../src/informers/informer-pool.ts";
import { realSystem } from "../../src/system/real-system.ts";
import { connect } from "../support/connect.ts";
import { startCuttingProxy } from "../support/cutting-proxy.ts";
import { configMaps } from "../support/kinds.ts";
import { noteConfigMaps, picture } from "../support/noted-events.ts";

let cluster: LocalCluster;

beforeAll(async () => {
  // Below the ports that outgoing connections take: one of those could sit on it while the server is down.
  cluster = await startLocalCluster({ kwokNodes: 0, port: 20_000 + randomInt(10_000) });
});

afterAll(async () => {
  await cluster.stop();
});

const namespace = "default";

async function write(client: Client, name: string, text: string): Promise<void> {
  await client.apply(
    configMaps,
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { text } },
    { fieldManager: "test", force: true },
  );
}

describe("informers and a server that goes away", () => {
  test("[runtime/RT-01] resume on their own after SIGKILL, lose nothing and repeat nothing", async () => {
    await using connected = connect(cluster.admin);
    const { client, transport } = connected;
    for (const name of ["kept", "changed", "removed"]) await write(client, name, "before");
    const relists: string[] = [];
    const observer = { relisted: ({ kind }: { readonly kind: string }) => relists.push(kind) };
    await using pool = new InformerPool({ transport, system: realSystem(), freeze: true, observer });
    const { handle, heard } = noteConfigMaps(pool, namespace);
    await handle.synced;
    const before = heard.length;

    await cluster.apiServer.kill();
    await cluster.apiServer.restart();
    await eventually(async () => {
      await write(client, "changed", "after");
      return true;
    });
    await client.delete(configMaps, { name: "removed", namespace });
    await write(client, "new", "after");
    await eventually((see) => see(heard.slice(before)).includes("added new"), { withinMs: 15_000 });

    expect(heard.slice(before).toSorted()).toEqual(["added new", "deleted removed", "updated changed"]);
    expect(relists).toEqual([]);
  });

  test("[runtime/RT-02] [faults/6] after a compaction list again and report what was deleted meanwhile", async () => {
    await using proxy = await startCuttingProxy(cluster.admin.server);
    await using watching = connect({ ...cluster.admin, server: proxy.url });
    await using acting = connect(cluster.admin);
    for (const name of ["steady", "doomed"]) await write(acting.client, name, "before");
    const relists: string[] = [];
    await using pool = new InformerPool({
      transport: watching.transport,
      system: realSystem(),
      freeze: true,
      observer: { relisted: ({ kind }) => relists.push(kind) },
    });
    const { handle, heard } = noteConfigMaps(pool, namespace);
    await handle.synced;
    const before = heard.length;

    proxy.refuse(true);
    proxy.cut();
    await acting.client.delete(configMaps, { name: "doomed", namespace });
    await write(acting.client, "steady", "after");
    // The server's own memory of events must go as well, or it answers from there.
    await cluster.apiServer.kill();
    await cluster.etcd.compact();
    await cluster.apiServer.restart();
    await eventually(
      async () => (await acting.client.find(configMaps, { name: "steady", namespace })) !== undefined,
    );
    proxy.refuse(false);
    await eventually((see) => see(heard.slice(before)).includes("deleted doomed"), { withinMs: 40_000 });

    expect(relists).toEqual(["ConfigMap"]);
    expect(heard.slice(before).toSorted()).toEqual(["deleted doomed", "updated steady"]);
    const listed = await acting.client.listPage(configMaps, { namespace });
    expect(picture(handle.store.list())).toEqual(picture(listed.items));
  });
});
