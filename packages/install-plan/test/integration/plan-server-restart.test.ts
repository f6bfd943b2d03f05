import { randomInt } from "node:crypto";

import { installPlan } from "@quartermaster/api";
import { eventually, type LocalCluster, startLocalCluster } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { configMaps } from "../support/kinds.ts";
import { configMap } from "../support/manifests.ts";
import { makeAdministrator, operateAlone } from "../support/own-cluster.ts";
import { aPlan } from "../support/plans.ts";

let cluster: LocalCluster;
const namespace = "default";

beforeAll(async () => {
  // Below the ports that outgoing connections take: one of those could sit on it while the server is down.
  cluster = await startLocalCluster({ kwokNodes: 0, port: 20_000 + randomInt(10_000) });
});

afterAll(async () => {
  await cluster.stop();
});

describe("the API server goes away", () => {
  test("[install-plan/116] in the middle of a stage: the plan goes on, nothing is made twice or lost", async () => {
    await using operator = await operateAlone(cluster);
    await makeAdministrator(operator);
    const { client } = operator;
    const stages = ["a", "b"].map((name) => ({
      name,
      resources: Array.from({ length: 100 }, (_, index) => configMap(`${name}${index}`)),
    }));
    const { apiVersion, kind } = aPlan("p");
    const spec = { serviceAccountName: "installer", stages };
    await client.create(installPlan.kind, {
      apiVersion,
      kind,
      metadata: { name: "p", namespace },
      spec,
    } as never);
    await eventually(async () => (await client.find(configMaps, { namespace, name: "b5" })) !== undefined, {
      everyMs: 5,
    });
    await cluster.apiServer.kill();
    await cluster.apiServer.restart();
    const before = await eventually(async () => {
      const { items } = await client.listPage(configMaps, { namespace, pageSize: 500 });
      return items;
    });
    const done = await eventually(
      async (see) => {
        const { status } = await client.get(installPlan.kind, { namespace, name: "p" });
        see(status?.message);
        return status?.phase === "Installed" ? status : undefined;
      },
      { withinMs: 60_000 },
    );
    expect(done.counts).toMatchObject({ total: 200, ready: 200 });
    const { items } = await client.listPage(configMaps, { namespace, pageSize: 500 });
    const uids = new Map(items.map(({ metadata }) => [metadata.name, metadata.uid]));
    for (const { metadata } of before) expect(uids.get(metadata.name)).toBe(metadata.uid);
    expect(before.length).toBeLessThan(items.length);
  });
});
