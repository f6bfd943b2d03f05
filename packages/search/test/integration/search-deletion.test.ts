import { openSearchCluster } from "@quartermaster/api";
import {
  configMaps,
  persistentVolumeClaims,
  pods,
  secrets,
  statefulSets,
} from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

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

const acceptNewCluster = "search.quartermaster.dev/accept-new-cluster";
const kept = ["data-logs-nodes-0", "logs-admin-password", "logs-ca"];

describe("a cluster that is deleted", () => {
  test.for(["Background", "Foreground"] as const)(
    "[search/SC-103] with Retain, %s: volumes, CA and passwords are kept; everything else goes",
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

  test("with --cascade=orphan: everything stays and belongs to no one", async () => {
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
  test("[search/SC-17] [search/SC-18] over one of three volumes of managers, or over data alone: refused, and no list is written; with consent a new cluster is founded beside the data", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const declared = (annotations = {}): object =>
      aCluster("logs", {
        pools: [aPool("managers", 3, { roles: ["cluster_manager"] }), aPool("data", 1, { roles: ["data"] })],
        annotations,
      });
    const dropClaims = async (...nodes: readonly string[]): Promise<void> => {
      for (const node of nodes)
        await client.delete(persistentVolumeClaims, { namespace, name: `data-logs-${node}` });
    };
    const untilBlocked = async (reason: string): Promise<void> => {
      const { status } = await bench.until(
        "logs",
        (found) => conditionOf(found, "Ready") === `False/${reason}`,
      );
      expect(status?.bootstrap).toBeUndefined();
      const ref = { namespace, name: "logs-bootstrap" };
      expect(Object.values((await client.find(configMaps, ref))?.data ?? {}).join("")).toBe("");
      expect(await Array.fromAsync(client.list(statefulSets, { namespace }))).toEqual([]);
    };
    await bench.apply(declared());
    const uuid = (await bench.until("logs", isReady)).status?.clusterUuid ?? "";
    await client.delete(openSearchCluster.kind, { namespace, name: "logs" });
    await gone(bench);
    await dropClaims("managers-1", "managers-2");
    await eventually(async (see) => see(await names(bench)).length === 4);
    await bench.apply(declared());
    await untilBlocked("QuorumVolumesMissing");
    await dropClaims("managers-0");
    await untilBlocked("DataFromAnotherCluster");
    const data = await client.get(persistentVolumeClaims, { namespace, name: "data-logs-data-0" });
    // Consent to give up another cluster is none.
    await bench.apply(declared({ [acceptNewCluster]: "another" }));
    await bench.reconcile("logs", 3);
    await untilBlocked("DataFromAnotherCluster");
    await bench.apply(declared({ [acceptNewCluster]: uuid }));
    const { status } = await bench.until("logs", (found) => found.status?.clusterUuid !== undefined);
    expect(status?.clusterUuid).not.toBe(uuid);
    const still = await client.get(persistentVolumeClaims, { namespace, name: "data-logs-data-0" });
    expect(still.metadata.uid).toBe(data.metadata.uid);
  });
});
