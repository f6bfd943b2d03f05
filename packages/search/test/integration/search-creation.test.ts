import {
  configMaps,
  persistentVolumeClaims,
  pods,
  secrets,
  statefulSets,
} from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { aCluster, aPool, isReady, setUpSearch } from "../support/search-bench.ts";

describe("a new cluster", () => {
  test("[search/SC-12] three managers form one cluster; the list of founders is emptied; no helper pod is made", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 3)] }));
    const ready = await bench.until("logs", isReady);
    expect(ready.status?.phase).toBe("RUNNING");
    expect(bench.engines.engine("logs").uuids).toEqual([ready.status?.clusterUuid]);
    const list = await client.get(configMaps, { namespace, name: "logs-bootstrap" });
    expect(Object.values(list.data ?? {})).toEqual([""]);
    const names = (await Array.fromAsync(client.list(pods, { namespace }))).map(
      ({ metadata }) => metadata.name,
    );
    expect(names.toSorted()).toEqual(["logs-nodes-0", "logs-nodes-1", "logs-nodes-2"]);
    const claim = await client.get(persistentVolumeClaims, { namespace, name: "data-logs-nodes-0" });
    expect(claim.metadata.annotations?.["search.quartermaster.dev/engine-uuid"]).toBe(
      ready.status?.clusterUuid,
    );
    expect(claim.metadata.ownerReferences).toBeUndefined();
    const set = await client.get(statefulSets, { namespace, name: "logs-nodes" });
    expect(set.spec.podManagementPolicy).toBe("Parallel");
    const password = await client.get(secrets, { namespace, name: "logs-admin-password" });
    expect(Buffer.from(password.data?.["password"] ?? "", "base64").toString().length).toBeGreaterThanOrEqual(
      32,
    );
  });

  test("three managers and three data nodes take at most 45 writes, 30 of them of objects", async () => {
    await using bench = await setUpSearch();
    const position = await bench.cluster.audit.position();
    const pools = [
      aPool("managers", 3, { roles: ["cluster_manager"] }),
      aPool("data", 3, { roles: ["data", "ingest"] }),
    ];
    await bench.apply(aCluster("logs", { pools }));
    const ready = await bench.until("logs", isReady);
    expect(ready.status?.availableNodes).toBe(6);
    const writes = await bench.writes(position);
    const output = writes.map(({ verb, resource }) => `${verb} ${resource}`).join(", ");
    expect(
      writes.filter(({ resource }) => resource !== "opensearchclusters").length,
      output,
    ).toBeLessThanOrEqual(30);
    expect(writes.length, output).toBeLessThanOrEqual(45);
  });
});
