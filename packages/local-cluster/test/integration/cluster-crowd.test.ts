import { expect, test } from "vitest";

import { ApiClient } from "../../src/api/api-client.ts";
import { startLocalCluster } from "../../src/index.ts";
import { eventually } from "./eventually.ts";

/** 1,000 in every run; 10,000 in `make campaign`. */
const POD_COUNT = process.env["QM_CAMPAIGN"] === "1" ? 10_000 : 1_000;

test(
  `[local-cluster/LC-14] runs ${POD_COUNT} simulated pods while the API server stays below 2 GB`,
  { timeout: 600_000 },
  async () => {
    await using cluster = await startLocalCluster({ kwokNodes: 10 });
    using api = new ApiClient(cluster.admin);
    const { items: nodes } = JSON.parse((await api.send({ path: "/api/v1/nodes" })).body) as {
      items: readonly { readonly metadata: { readonly name: string } }[];
    };
    // On nodes of our choice: binding them one by one would take the scheduler longer than all the rest.
    const body = (index: number): object => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `pod-${index}` },
      spec: {
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        nodeName: nodes[index % nodes.length]?.metadata.name,
        containers: [{ name: "main", image: "nowhere.invalid/none:1" }],
      },
    });
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = (next += 1); index <= POD_COUNT; index = next += 1) {
        const { status } = await api.send({
          method: "POST",
          path: "/api/v1/namespaces/default/pods",
          body: body(index),
        });
        expect(status).toBe(201);
      }
    };
    await Promise.all(Array.from({ length: 16 }, work));
    let running = 0;
    await eventually(
      async () => {
        const response = await api.send({
          path: "/api/v1/namespaces/default/pods?fieldSelector=status.phase%3DRunning&limit=1",
          timeoutMs: 60_000,
        });
        const { items, metadata } = JSON.parse(response.body) as {
          items: unknown[];
          metadata: { remainingItemCount?: number };
        };
        running = items.length + (metadata.remainingItemCount ?? 0);
        const list = await api.send({
          path: "/api/v1/namespaces/default/pods?resourceVersion=0&fieldSelector=status.phase!%3DRunning",
          timeoutMs: 60_000,
        });
        return (JSON.parse(list.body) as { items: unknown[] }).items.length === 0 ? true : undefined;
      },
      () => `${running} of ${POD_COUNT} run`,
      300_000,
    );
    const apiServer = cluster.usage().find(({ name }) => name === "kube-apiserver");
    expect(apiServer?.residentBytes).toBeLessThan(2e9);
  },
);
