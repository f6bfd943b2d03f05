import type { Live } from "@quartermaster/runtime";
import { persistentVolumeClaims, pods, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { ClusterObject } from "../../src/model/read-cluster.ts";
import { operateWatched } from "../support/disruptions.ts";
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

async function slotsOf({ client, namespace }: SearchBench, name: string): Promise<number> {
  return (await client.get(statefulSets, { namespace, name })).spec.replicas ?? 0;
}

function membersIn({ status }: Live<ClusterObject>, prefix: string): number {
  return (status?.nodes ?? []).filter(({ name, member }) => name.startsWith(prefix) && member === true)
    .length;
}

function outdatedIn({ status }: Live<ClusterObject>): number {
  return (status?.nodePools ?? []).reduce((sum, { outdated = 0 }) => sum + outdated, 0);
}

const orders = { name: "orders", shards: 4, replicas: 1, documents: 100 } as const;

describe("fewer nodes", () => {
  test("[search/SC-63] [search/SC-71] five go to two by three drains, one after the other; votes leave first; only the claims of removed nodes go", async () => {
    await using bench = await setUpSearch({ isOperating: false, clockRate: 4 });
    await using operator = await operateWatched(bench);
    const sized = (replicas: number): object =>
      aCluster("logs", {
        pools: [aPool("nodes", replicas)],
        general: { persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete" } },
      });
    await bench.apply(sized(5));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-nodes-0", orders);
    await eventually(() => engine.lostShards().length === 0 || undefined);
    const seen: string[] = [];
    await bench.apply(sized(2));
    const done = await bench.until("logs", (found) => {
      const { operation } = found.status ?? {};
      if (operation !== undefined && !seen.includes(operation.node)) seen.push(operation.node);
      return isReady(found) && found.status?.availableNodes === 2;
    });
    const removed = ["logs-nodes-4", "logs-nodes-3", "logs-nodes-2"];
    expect(seen).toEqual(removed);
    // One place at a time: emptied, without a vote, and all others there.
    expect(operator.disruptions).toMatchObject(
      removed.map((node) => ({ by: "shrink", nodes: [node], away: [], onlyCopies: [] })),
    );
    expect(
      operator.disruptions.filter(({ nodes, voters }) => nodes.some((node) => voters.includes(node))),
    ).toEqual([]);
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

  test("[search/SC-61] [search/SC-65] [faults/32] while the shard table is wrong or not to be had no place is taken away; declared again, the node stays and takes part", async () => {
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
      // An engine whose answers cannot be read is looked at each 30 s only.
      const observations = fault.kind === "throw" && fault.code === "unreadable" ? 1 : 4;
      engine.faults.clear();
      engine.faults.plan({ call: "shards", fault });
      const requested = bench.engines.calls.filter((call) => call === "shards").length;
      // Several looks at the engine later nothing has happened.
      await eventually(
        () =>
          bench.engines.calls.filter((call) => call === "shards").length >= requested + observations ||
          undefined,
      );
      expect(await slotsOf(bench, "logs-nodes")).toBe(3);
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

  test("[search/SC-66] a pool renamed to get another storage class, with a roll pending: the new nodes join, the old ones drain and go, then the rest restarts", async () => {
    await using bench = await setUpSearch();
    const managers = aPool("managers", 3, { roles: ["cluster_manager"] });
    const data = (component: string, storageClass: string): object =>
      aPool(component, 2, { roles: ["data"], persistence: { pvc: { storageClass } } });
    await bench.apply(aCluster("logs", { pools: [managers, data("old", "slow")] }));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-old-0", orders);
    const position = await bench.cluster.audit.position();
    await bench.apply(
      aCluster("logs", {
        pools: [managers, data("new", "fast")],
        general: { additionalConfig: { "indices.query.bool.max_clause_count": "2000" } },
      }),
    );
    const early: unknown[] = [];
    await bench.until("logs", (found) => {
      if (found.status?.operation !== undefined && membersIn(found, "logs-new-") < 2)
        early.push(found.status);
      return isReady(found) && outdatedIn(found) === 0 && found.status?.nodePools?.length === 2;
    });
    expect(early).toEqual([]);
    const taken = (await bench.writes(position)).flatMap(({ verb, resource, name = "" }) =>
      (verb === "delete" && ["pods", "statefulsets"].includes(resource)) ||
      (verb === "patch" && name === "logs-old")
        ? [`${verb} ${name}`]
        : [],
    );
    // Two places, the pool, and only then each manager once.
    expect(taken.slice(0, 3)).toEqual(["patch logs-old", "patch logs-old", "delete logs-old"]);
    expect(taken.slice(3).toSorted()).toEqual([
      "delete logs-managers-0",
      "delete logs-managers-1",
      "delete logs-managers-2",
    ]);
    expect(await podNames(bench)).toEqual([
      "logs-managers-0",
      "logs-managers-1",
      "logs-managers-2",
      "logs-new-0",
      "logs-new-1",
    ]);
    const claim = await bench.client.get(persistentVolumeClaims, {
      namespace: bench.namespace,
      name: "data-logs-new-0",
    });
    expect(claim.spec).toMatchObject({ storageClassName: "fast" });
    expect(engine.lostShards()).toEqual([]);
    expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
  });

  test("[search/SC-69] [faults/31] a node that is killed in mid-drain keeps its place until every copy is complete elsewhere", async () => {
    await using bench = await setUpSearch();
    const managers = aPool("managers", 1, { roles: ["cluster_manager"] });
    const sized = (replicas: number): object =>
      aCluster("logs", { pools: [managers, aPool("data", replicas, { roles: ["data"] })] });
    await bench.apply(sized(3));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    // Without replicas: what is on the node is nowhere else.
    engine.createIndex("logs-data-0", { name: "alone", shards: 6, replicas: 0, documents: 60 });
    // A copy that never started holds nothing.
    await eventually(() => engine.lostShards().length === 0 || undefined);
    engine.holdsShards.add("logs-data-2");
    await bench.apply(sized(2));
    await eventually(() => engine.settings().persistent[exclude] === "logs-data-2" || undefined);
    bench.engines.down.add("logs-data-2");
    await eventually(() => engine.lostShards().length > 0 || undefined);
    const requested = bench.engines.calls.filter((call) => call === "shards").length;
    await eventually(
      () => bench.engines.calls.filter((call) => call === "shards").length >= requested + 8 || undefined,
    );
    expect(await slotsOf(bench, "logs-data")).toBe(3);
    expect((await bench.get("logs")).status?.operation).toMatchObject({ node: "logs-data-2" });
    // It comes back with its data, and can be emptied.
    bench.engines.down.delete("logs-data-2");
    engine.holdsShards.clear();
    await bench.until("logs", (found) => isReady(found) && found.status?.availableNodes === 3);
    expect(await podNames(bench)).toEqual(["logs-data-0", "logs-data-1", "logs-managers-0"]);
    expect(engine.lostShards()).toEqual([]);
    expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
  });

  test("[search/SC-68] [search/SC-70] beside exclusions of others a drain is effective; stuck for 15 minutes it is withdrawn and the pending roll runs; later it is tried again, and theirs stay", async () => {
    await using bench = await setUpSearch({ isOperating: false, clockRate: 4 });
    await using operator = await operateWatched(bench);
    const managers = aPool("managers", 1, { roles: ["cluster_manager"] });
    const sized = (replicas: number, general = {}): object =>
      aCluster("logs", { pools: [managers, aPool("data", replicas, { roles: ["data"] })], general });
    await bench.apply(sized(3));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-data-0", orders);
    const theirs = { persistent: { [exclude]: "old-1,old-2" }, transient: { [exclude]: "rack-9" } };
    engine.putSettings(theirs);
    engine.holdsShards.add("logs-data-2");
    // Fewer nodes, and a configuration that might be the cure.
    await bench.apply(sized(2, { additionalConfig: { "indices.query.bool.max_clause_count": "2000" } }));
    // What is transient counts: theirs and ours are there, and what is persistent is as they left it.
    await eventually(
      (see) => see(engine.settings().transient[exclude]) === "rack-9,logs-data-2" || undefined,
    );
    expect(engine.settings().persistent[exclude]).toBe("old-1,old-2");
    await bench.until("logs", (found) => found.status?.operation?.shardsLeft !== undefined);
    expect(operator.disruptions).toEqual([]);
    bench.clock.advance(15 * 60_000);
    const stalled = await bench.until(
      "logs",
      (found) => conditionOf(found, "Ready") === "False/DrainStalled" && outdatedIn(found) === 0,
    );
    expect(messageOf(stalled)).toContain("logs-data-2 does not become empty");
    expect(engine.settings()).toEqual(theirs);
    expect(operator.disruptions.map(({ by, nodes }) => `${by} ${nodes.join()}`).toSorted()).toEqual([
      "delete logs-data-0",
      "delete logs-data-1",
      "delete logs-data-2",
      "delete logs-managers-0",
    ]);
    engine.holdsShards.clear();
    bench.clock.advance(15 * 60_000);
    await bench.reconcile("logs");
    await bench.until("logs", (found) => isReady(found) && found.status?.availableNodes === 3);
    expect(operator.disruptions.at(-1)).toMatchObject({
      by: "shrink",
      nodes: ["logs-data-2"],
      onlyCopies: [],
    });
    expect(operator.disruptions.flatMap(({ away }) => away)).toEqual([]);
    expect(engine.settings()).toEqual(theirs);
  });
});
