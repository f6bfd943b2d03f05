import { pods, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { aCluster, aPool, conditionOf, isReady, messageOf, setUpSearch } from "../support/search-bench.ts";

describe("storage of a pool that runs", () => {
  test("[first-use/1] a raised diskSize is held and named; the pool's other changes are carried out, and it can be set back", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const object = (diskSize: string, replicas: number, labels = {}): object =>
      aCluster("logs", { pools: [aPool("nodes", replicas, { diskSize, labels })] });
    await bench.apply(object("1Gi", 1));
    await bench.until("logs", isReady);
    await bench.apply(object("2Gi", 2, { team: "a" }));
    const held = await bench.until(
      "logs",
      (found) => conditionOf(found, "Ready") === "False/OperationNotSupportedYet",
    );
    expect(messageOf(held)).toContain("nodes: diskSize (1Gi, 2Gi is declared)");
    expect(messageOf(held)).toContain("add a pool with the new storage");
    expect(conditionOf(held, "Stalled")).not.toMatch(/^True/);
    // A new node, and a restart with the new label.
    await eventually(async (see) => {
      const all = await Array.fromAsync(client.list(pods, { namespace }));
      const labels = see(all.map(({ metadata }) => metadata.labels?.["team"]));
      return labels.length === 2 && labels.every((label) => label === "a");
    });
    await bench.apply(object("1Gi", 2, { team: "a" }));
    await bench.until("logs", isReady);
  });

  test("[first-use/1] another Service name blocks no other change of the pool", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const object = (serviceName: string, replicas: number): object =>
      aCluster("logs", { pools: [aPool("nodes", replicas)], general: { serviceName } });
    await bench.apply(object("logs", 1));
    await bench.until("logs", isReady);
    await bench.apply(object("search", 2));
    await bench.until("logs", isReady);
    const set = await client.get(statefulSets, { namespace, name: "logs-nodes" });
    expect(set.spec).toMatchObject({ replicas: 2, serviceName: "logs-nodes" });
  });
});
