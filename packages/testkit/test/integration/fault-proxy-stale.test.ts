import { ApiClient } from "@quartermaster/local-cluster";
import { expect, test } from "vitest";

import { aConfigMap, eventually, startFaultProxy, startLocalCluster } from "../../src/index.ts";

const path = "/api/v1/namespaces/default/configmaps";

test("S2 lists from a server that is behind while everything else is fresh, and S3 does so for one read only", async () => {
  await using cluster = await startLocalCluster({ staleApiServer: true });
  if (cluster.stale === undefined) throw new Error("the second API server is missing");
  await using proxy = await startFaultProxy({
    upstream: cluster.admin,
    staleServer: cluster.stale.apiServer.url,
  });
  using client = new ApiClient({ ...proxy.access, token: cluster.admin.token ?? "" });
  const list = async (): Promise<readonly string[]> => {
    const { body } = await client.send({ path: `${path}?resourceVersion=0` });
    const { items } = JSON.parse(body) as { items: readonly { metadata: { name: string } }[] };
    return items.map(({ metadata }) => metadata.name);
  };
  const readFromStale = (times: number): void => {
    proxy.inject(
      ({ verb, resource }) => verb === "list" && resource === "configmaps",
      { kind: "answer-stale" },
      times,
    );
  };

  await client.apply(`${path}/before`, aConfigMap({ name: "before", namespace: "default" }));
  readFromStale(Number.POSITIVE_INFINITY);
  await eventually(async (see) => see(await list()).includes("before"));
  cluster.stale.relay.pause();
  await client.apply(`${path}/after`, aConfigMap({ name: "after", namespace: "default" }));
  expect(await list()).not.toContain("after");

  proxy.heal();
  expect(await list()).toContain("after");
  readFromStale(1);
  expect(await list()).not.toContain("after");
  expect(await list()).toContain("after");

  cluster.stale.relay.resume();
  readFromStale(Number.POSITIVE_INFINITY);
  await eventually(async (see) => see(await list()).includes("after"));
});
