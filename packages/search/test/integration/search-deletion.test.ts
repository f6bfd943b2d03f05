import { openSearchCluster } from "@quartermaster/api";
import { persistentVolumeClaims, pods, secrets, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { aCluster, aPool, isReady, type SearchBench, setUpSearch } from "../support/search-bench.ts";

async function gone({ client, namespace }: SearchBench): Promise<void> {
  await eventually(
    async (see) => see(await client.find(openSearchCluster.kind, { namespace, name: "logs" })) === undefined,
  );
}

async function names({ client, namespace }: SearchBench): Promise<readonly string[]> {
  const kept = [
    ...(await Array.fromAsync(client.list(persistentVolumeClaims, { namespace }))),
    ...(await Array.fromAsync(client.list(secrets, { namespace }))),
  ];
  return kept
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.includes("logs"));
}

const kept = ["data-logs-nodes-0", "logs-admin-password", "logs-ca"];

describe("a cluster that is deleted", () => {
  test.for(["Background", "Foreground"] as const)(
    "[search/SC-103] with Retain, %s: volumes, authority and passwords are kept; everything else goes",
    async (propagation) => {
      await using bench = await setUpSearch();
      const { client, namespace } = bench;
      await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
      await bench.until("logs", isReady);
      await client.delete(openSearchCluster.kind, { namespace, name: "logs" }, { propagation });
      await gone(bench);
      await eventually(async (see) => {
        const left = see((await names(bench)).toSorted());
        return left.length === kept.length && kept.every((name) => left.includes(name));
      });
      expect(await Array.fromAsync(client.list(pods, { namespace }))).toEqual([]);
    },
  );

  test("[search/SC-103] with Delete: nothing is left", async () => {
    await using bench = await setUpSearch();
    await bench.apply(
      aCluster("logs", {
        pools: [aPool("nodes", 1)],
        general: { persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" } },
      }),
    );
    await bench.until("logs", isReady);
    await bench.client.delete(openSearchCluster.kind, { namespace: bench.namespace, name: "logs" });
    await gone(bench);
    await eventually(async (see) => see(await names(bench)).length === 0);
  });

  test("[search/SC-104] with an engine that does not answer: released all the same", async () => {
    await using bench = await setUpSearch();
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    await bench.until("logs", isReady);
    bench.engines.down.add("logs-nodes-0");
    await bench.client.delete(openSearchCluster.kind, { namespace: bench.namespace, name: "logs" });
    await gone(bench);
    expect(await names(bench)).toEqual(expect.arrayContaining(kept));
  });

  test("with --cascade=orphan: everything stays and belongs to nobody", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    await bench.until("logs", isReady);
    await client.delete(openSearchCluster.kind, { namespace, name: "logs" }, { propagation: "Orphan" });
    await gone(bench);
    const set = await client.get(statefulSets, { namespace, name: "logs-nodes" });
    expect(set.metadata.deletionTimestamp).toBeUndefined();
    const claim = await client.get(persistentVolumeClaims, { namespace, name: "data-logs-nodes-0" });
    expect(claim.metadata.labels?.["search.quartermaster.dev/cluster-uid"]).toBeUndefined();
  });
});

describe("a cluster that comes back", () => {
  test("[search/SC-17] [search/SC-18] over too few volumes: refused; with consent founded anew", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 3)] }));
    const first = await bench.until("logs", isReady);
    await client.delete(openSearchCluster.kind, { namespace, name: "logs" });
    await gone(bench);
    for (const ordinal of ["1", "2"])
      await client.delete(persistentVolumeClaims, { namespace, name: `data-logs-nodes-${ordinal}` });
    await eventually(async (see) => see(await names(bench)).length === 3);
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 3)] }));
    const refused = await bench.until(
      "logs",
      (found) => found.status?.blockers?.some(({ reason }) => reason === "QuorumVolumesMissing") === true,
    );
    expect(refused.status?.bootstrap).toBeUndefined();
    expect(await client.find(statefulSets, { namespace, name: "logs-nodes" })).toBeUndefined();
    const uuid = first.status?.clusterUuid ?? "";
    await client.delete(persistentVolumeClaims, { namespace, name: "data-logs-nodes-0" });
    await bench.apply(
      aCluster("logs", {
        pools: [aPool("nodes", 3)],
        annotations: { "search.quartermaster.dev/accept-new-cluster": uuid },
      }),
    );
    const anew = await bench.until("logs", isReady);
    expect(anew.status?.clusterUuid).not.toBe(uuid);
  });
});
