import { persistentVolumeClaims, pods, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  messageOf,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const exclude = "cluster.routing.allocation.exclude._name";

async function podNames({ client, namespace }: SearchBench): Promise<readonly string[]> {
  const list = await Array.fromAsync(client.list(pods, { namespace }));
  return list.map(({ metadata }) => metadata.name).toSorted();
}

async function claimNames({ client, namespace }: SearchBench): Promise<readonly string[]> {
  const list = await Array.fromAsync(client.list(persistentVolumeClaims, { namespace }));
  return list
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name)
    .toSorted();
}

async function placesOf({ client, namespace }: SearchBench, name: string): Promise<number> {
  return (await client.get(statefulSets, { namespace, name })).spec.replicas ?? 0;
}

const orders = { name: "orders", shards: 4, replicas: 1, documents: 100 } as const;

describe("fewer nodes", () => {
  test("[search/SC-63] [search/SC-71] four go to two by two drains, one after the other; votes leave first; only the claims of removed nodes go", async () => {
    await using bench = await setUpSearch();
    const sized = (replicas: number): object =>
      aCluster("logs", {
        pools: [aPool("nodes", replicas)],
        general: { persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete" } },
      });
    await bench.apply(sized(4));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-nodes-0", orders);
    const seen: string[] = [];
    await bench.apply(sized(2));
    const done = await bench.until("logs", (found) => {
      const { operation } = found.status ?? {};
      if (operation !== undefined && !seen.includes(operation.node)) seen.push(operation.node);
      return isReady(found) && found.status?.availableNodes === 2;
    });
    expect(seen).toEqual(["logs-nodes-3", "logs-nodes-2"]);
    expect(await podNames(bench)).toEqual(["logs-nodes-0", "logs-nodes-1"]);
    expect(
      await eventually(async () =>
        (await claimNames(bench)).length === 2 ? await claimNames(bench) : undefined,
      ),
    ).toEqual(["data-logs-nodes-0", "data-logs-nodes-1"]);
    expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
    expect(engine.lostShards()).toEqual([]);
    expect(done.status?.operation).toBeUndefined();
  });

  test("[search/SC-61] [search/SC-65] while the shard table is wrong or not to be had no place is taken away; declared again, the node stays and takes part", async () => {
    await using bench = await setUpSearch();
    const sized = (replicas: number): object => aCluster("logs", { pools: [aPool("nodes", replicas)] });
    await bench.apply(sized(3));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-nodes-0", orders);
    // It never becomes empty: what the node's own statistics say holds against a table that is a lie.
    engine.holdsShards.add("logs-nodes-2");
    await bench.apply(sized(2));
    await bench.until("logs", (found) => found.status?.operation?.step === "Drain");
    await eventually(() => engine.settings().persistent[exclude] === "logs-nodes-2" || undefined);
    for (const fault of [
      { kind: "lie", value: [] },
      { kind: "throw", code: "timeout" },
      { kind: "throw", code: "unreadable" },
    ] as const) {
      engine.faults.clear();
      engine.faults.plan({ call: "shards", fault });
      const asked = bench.engines.calls.filter((call) => call === "shards").length;
      // Several looks at the engine later nothing has happened.
      await eventually(
        () => bench.engines.calls.filter((call) => call === "shards").length >= asked + 4 || undefined,
      );
      expect(await placesOf(bench, "logs-nodes")).toBe(3);
    }
    engine.faults.clear();
    await bench.apply(sized(3));
    const back = await bench.until(
      "logs",
      (found) => isReady(found) && found.status?.operation === undefined,
    );
    expect(back.status?.availableNodes).toBe(3);
    expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
  });

  test("[search/SC-64] [search/SC-67] copies that would have no room refuse it before anything is excluded; a pool that is dropped goes whole, its claims stay", async () => {
    await using bench = await setUpSearch();
    const managers = aPool("managers", 1, { roles: ["cluster_manager"] });
    const data = (component: string, replicas: number): object =>
      aPool(component, replicas, { roles: ["data"] });
    await bench.apply(aCluster("logs", { pools: [managers, data("old", 2)] }));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-old-0", orders);
    await bench.apply(aCluster("logs", { pools: [managers, data("old", 1)] }));
    const refused = await bench.until(
      "logs",
      (found) => conditionOf(found, "Ready") === "False/ScaleDownRefused",
    );
    expect(messageOf(refused)).toContain("has 2 copies, and 1 data nodes would be left");
    expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
    // Renamed: the new nodes join first, the old ones drain, and their pool goes.
    await bench.apply(aCluster("logs", { pools: [managers, data("new", 2)] }));
    await bench.until("logs", (found) => isReady(found) && found.status?.nodePools?.length === 2);
    expect(await podNames(bench)).toEqual(["logs-managers-0", "logs-new-0", "logs-new-1"]);
    expect(
      await bench.client.find(statefulSets, { namespace: bench.namespace, name: "logs-old" }),
    ).toBeUndefined();
    expect(await claimNames(bench)).toContain("data-logs-old-0");
    expect(engine.lostShards()).toEqual([]);
  });
});
