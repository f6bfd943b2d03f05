import { openSearchCluster } from "@quartermaster/api";
import { persistentVolumeClaims } from "@quartermaster/runtime/kinds";
import type { AuditPosition } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import {
  allCrashes,
  byTurns,
  type Crash,
  everyWrite,
  liveAndDie,
  liveThrough,
} from "../support/live-and-die.ts";
import { aCluster, aPool, isReady, type SearchBench, setUpSearch } from "../support/search-bench.ts";

const isCampaign = process.env["QM_CAMPAIGN"] === "1";

/** `make campaign` tries all. */
const crashes = isCampaign ? allCrashes : allCrashes.slice(0, 1);

/** Crashes of one life after the other. `make campaign` has every kind at every write, `make test` all kinds by turns. */
const lifetimes = (first: number): readonly (readonly [string, readonly Crash[]])[] =>
  isCampaign
    ? allCrashes.map((crash) => [`${crash[0]} write ${String(crash[1])} of each life`, everyWrite(crash)])
    : [["in all ways by turns", byTurns(first)]];

/** Each life of an operator takes a second or two. */
const limitMs = 8 * 60_000;

const pools = [aPool("nodes", 3)];
const orders = { name: "orders", shards: 2, replicas: 1, documents: 10 } as const;

/** Pods that we deleted since then. */
async function deletedPods(bench: SearchBench, position: AuditPosition): Promise<readonly string[]> {
  return (await bench.writes(position)).flatMap(({ verb, resource, name = "" }) =>
    verb === "delete" && resource === "pods" ? [name] : [],
  );
}

/** As declared, and nothing in progress. */
async function isDoneAs(bench: SearchBench, nodes: number): Promise<boolean> {
  const found = await bench.get("logs");
  const { operation, nodePools = [], availableNodes } = found.status ?? {};
  const isRolled = nodePools.every(({ outdated }) => outdated === 0);
  return isReady(found) && operation === undefined && isRolled && availableNodes === nodes;
}

describe("the operator is killed at every write", () => {
  test.for(lifetimes(0))(
    "[search/SC-107] of a roll, %s: each pod goes once, nothing is left in the engine",
    { timeout: limitMs },
    async ([, each]) => {
      await using bench = await setUpSearch();
      await bench.apply(aCluster("logs", { pools: [aPool("nodes", 2)] }));
      await bench.until("logs", isReady);
      const engine = bench.engines.engine("logs");
      engine.createIndex("logs-nodes-0", orders);
      await bench.stop();
      const position = await bench.cluster.audit.position();
      await bench.apply(
        aCluster("logs", { pools: [aPool("nodes", 2)], general: { additionalConfig: { "a.b": "1" } } }),
      );
      const lives = await liveThrough(bench, each, async () => await isDoneAs(bench, 2));
      expect(lives).toBeGreaterThan(2 * allCrashes.length);
      expect((await deletedPods(bench, position)).toSorted()).toEqual(["logs-nodes-0", "logs-nodes-1"]);
      expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
      expect(engine.lostShards()).toEqual([]);
    },
  );

  test.for(lifetimes(1))(
    "[search/SC-107] of a scale-down, %s: one node goes, no shard is lost, nothing is left in the engine",
    { timeout: limitMs },
    async ([, each]) => {
      await using bench = await setUpSearch();
      await bench.apply(aCluster("logs", { pools: [aPool("nodes", 3)] }));
      await bench.until("logs", isReady);
      const engine = bench.engines.engine("logs");
      engine.createIndex("logs-nodes-0", orders);
      await bench.stop();
      const position = await bench.cluster.audit.position();
      await bench.apply(aCluster("logs", { pools: [aPool("nodes", 2)] }));
      const lives = await liveThrough(bench, each, async () => await isDoneAs(bench, 2));
      expect(lives).toBeGreaterThan(2 * allCrashes.length);
      expect(await deletedPods(bench, position)).toEqual([]);
      expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
      expect(engine.lostShards()).toEqual([]);
    },
  );

  test.for(crashes)(
    "of a creation: %s write %i of each life; one UUID, every volume, the same end",
    { timeout: limitMs },
    async (crash) => {
      await using bench = await setUpSearch({ isOperating: false });
      await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
      const lives = await liveAndDie(bench, crash, async () => isReady(await bench.get("logs")));
      expect(lives).toBeGreaterThan(5);
      const found = await bench.get("logs");
      expect(bench.engines.engine("logs").uuids).toEqual([found.status?.clusterUuid]);
      const claims = await Array.fromAsync(
        bench.client.list(persistentVolumeClaims, { namespace: bench.namespace }),
      );
      expect(
        claims.map(({ metadata }) => metadata.annotations?.["search.quartermaster.dev/engine-uuid"]),
      ).toEqual([found.status?.clusterUuid]);
    },
  );

  test.for(crashes)(
    "of a deletion with Retain: %s write %i of each life; every volume stays, and the cluster comes back",
    { timeout: limitMs },
    async (crash) => {
      await using bench = await setUpSearch();
      await bench.apply(aCluster("logs", { pools }));
      const before = await bench.until("logs", isReady);
      await bench.stop();
      await bench.client.delete(openSearchCluster.kind, { namespace: bench.namespace, name: "logs" });
      const isDeleted = async (): Promise<boolean> =>
        (await bench.client.find(openSearchCluster.kind, { namespace: bench.namespace, name: "logs" })) ===
        undefined;
      await liveAndDie(bench, crash, isDeleted);
      const claims = await Array.fromAsync(
        bench.client.list(persistentVolumeClaims, { namespace: bench.namespace }),
      );
      expect(claims.filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toHaveLength(3);
      await bench.operate();
      await bench.apply(aCluster("logs", { pools }));
      const back = await bench.until("logs", isReady);
      expect(back.status?.clusterUuid).toBe(before.status?.clusterUuid);
    },
  );
});
