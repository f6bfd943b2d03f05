import { elasticsearchCluster, openSearchCluster } from "@quartermaster/api";
import type { Kind, Live } from "@quartermaster/runtime";
import { persistentVolumeClaims, pods, services, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { ClusterObject } from "../../src/model/read-cluster.ts";
import { ownerLabels } from "../../src/owner-labels.ts";
import {
  aCluster,
  anElasticsearch,
  aPool,
  conditionOf,
  isReady,
  messageOf,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

/** Made, ready, and deleted with Retain: its claims stay. */
async function leaveClaims(bench: SearchBench, object: object, name: string): Promise<void> {
  const { client, namespace } = bench;
  await bench.apply(object);
  await bench.until(name, isReady);
  await client.delete(openSearchCluster.kind, { namespace, name });
  await eventually(
    async (see) => see(await client.find(openSearchCluster.kind, { namespace, name })) === undefined,
  );
}

async function refusedBy(
  bench: SearchBench,
  name: string,
  kind?: Kind<ClusterObject>,
): Promise<Live<ClusterObject>> {
  return await bench.until(name, (found) => conditionOf(found, "Ready") === "False/ForeignVolume", kind);
}

async function makeClaim({ client, namespace }: SearchBench, name: string): Promise<void> {
  await client.create(persistentVolumeClaims, {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
}

describe("[security/108] pods never mount a claim that is not their cluster's", () => {
  test("[security/108] cluster a-b with pool c is not made over the volume of cluster a with pool b-c", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await leaveClaims(bench, aCluster("a", { pools: [aPool("b-c", 1)] }), "a");
    // The garbage collector frees the names that both clusters need.
    await eventually(
      async (see) => see(await client.find(services, { namespace, name: "a-b-c" })) === undefined,
      { withinMs: 90_000 },
    );
    const before = await client.get(persistentVolumeClaims, { namespace, name: "data-a-b-c-0" });
    expect(before.metadata.labels).toMatchObject({
      [ownerLabels.cluster]: "a",
      [ownerLabels.pool]: "b-c",
      [ownerLabels.distribution]: "opensearch",
      [ownerLabels.version]: "2.19.4",
    });
    await bench.apply(aCluster("a-b", { pools: [aPool("c", 1)] }));
    const refused = await refusedBy(bench, "a-b");
    expect(messageOf(refused)).toContain("data-a-b-c-0 (it belongs to cluster a)");
    expect(refused.status?.bootstrap).toBeUndefined();
    expect(await client.find(statefulSets, { namespace, name: "a-b-c" })).toBeUndefined();
    const after = await client.get(persistentVolumeClaims, { namespace, name: "data-a-b-c-0" });
    expect(after.metadata.labels).toEqual(before.metadata.labels);
  });

  test("[security/108] a claim without owner labels is neither founded upon nor grown onto", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await makeClaim(bench, "data-logs-nodes-1");
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 2)] }));
    expect(messageOf(await refusedBy(bench, "logs"))).toContain("data-logs-nodes-1 (it has no owner labels");
    expect(await client.find(statefulSets, { namespace, name: "logs-nodes" })).toBeUndefined();
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    await bench.until("logs", isReady);
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 2)] }));
    const grown = await refusedBy(bench, "logs");
    expect(messageOf(grown)).toContain("data-logs-nodes-1");
    const set = await client.get(statefulSets, { namespace, name: "logs-nodes" });
    expect(set.spec.replicas).toBe(1);
    expect(await client.find(pods, { namespace, name: "logs-nodes-1" })).toBeUndefined();
  });

  test("[search/SC-114] a pool does not grow onto a volume of another UUID, which stays as it is; once that no longer exists it does", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const sized = (replicas: number): object => aCluster("logs", { pools: [aPool("nodes", replicas)] });
    await bench.apply(sized(1));
    await bench.until("logs", isReady);
    const own = await client.get(persistentVolumeClaims, { namespace, name: "data-logs-nodes-0" });
    const ref = { namespace, name: "data-logs-nodes-1" };
    // As an earlier cluster of this name left it.
    const earlier = {
      labels: own.metadata.labels ?? {},
      annotations: { ...own.metadata.annotations, "search.quartermaster.dev/engine-uuid": "earlier" },
    };
    const { metadata } = await client.create(persistentVolumeClaims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { ...ref, ...earlier },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    await bench.apply(sized(2));
    expect(messageOf(await refusedBy(bench, "logs"))).toContain("data-logs-nodes-1 (earlier)");
    await bench.reconcile("logs", 3);
    expect((await client.get(statefulSets, { namespace, name: "logs-nodes" })).spec.replicas).toBe(1);
    expect(await client.find(pods, { namespace, name: "logs-nodes-1" })).toBeUndefined();
    const kept = await client.get(persistentVolumeClaims, ref);
    expect(kept.metadata).toMatchObject({ uid: metadata.uid, labels: earlier.labels });
    expect(kept.metadata.annotations).toMatchObject(earlier.annotations);
    await client.delete(persistentVolumeClaims, ref);
    await bench.until("logs", (found) => isReady(found) && found.status?.availableNodes === 2);
  });

  test("[security/108] Elasticsearch is not started on the volume of an OpenSearch of the same name", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await leaveClaims(bench, aCluster("logs", { pools: [aPool("nodes", 1)] }), "logs");
    await bench.apply(anElasticsearch("logs", { pools: [aPool("nodes", 1)] }));
    const refused = await refusedBy(bench, "logs", elasticsearchCluster.kind);
    expect(messageOf(refused)).toContain("data-logs-nodes-0 (it belongs to a cluster of opensearch)");
    expect(await client.find(statefulSets, { namespace, name: "logs-nodes" })).toBeUndefined();
  });

  test("[security/108] a cluster does not come back with another version than its volumes have", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    const object = (version: string): object =>
      aCluster("logs", { pools: [aPool("nodes", 1)], general: { version } });
    await leaveClaims(bench, object("2.19.4"), "logs");
    await bench.apply(object("2.18.0"));
    expect(messageOf(await refusedBy(bench, "logs"))).toContain("it was written by version 2.19.4");
    expect(await client.find(statefulSets, { namespace, name: "logs-nodes" })).toBeUndefined();
    await bench.apply(object("2.19.4"));
    await bench.until("logs", isReady);
  });
});

test("[first-use/11] the claim of a running node is deleted: it is said what happens next and how to keep the data, and nothing restarts", async () => {
  await using bench = await setUpSearch();
  const { client, namespace } = bench;
  const object = (labels: object): object => aCluster("logs", { pools: [aPool("nodes", 3, { labels })] });
  const uids = async (): Promise<ReadonlyMap<string, string>> => {
    const found = await Array.fromAsync(client.list(pods, { namespace }));
    return new Map(found.map(({ metadata }) => [metadata.name, metadata.uid]));
  };
  await bench.apply(object({}));
  await bench.until("logs", isReady);
  const before = await uids();
  const claim = { namespace, name: "data-logs-nodes-1" };
  const { metadata, spec } = await client.get(persistentVolumeClaims, claim);
  await client.delete(persistentVolumeClaims, claim);
  // Every pod is outdated with this, and would be restarted.
  await bench.apply(object({ team: "a" }));
  const reported = await bench.until(
    "logs",
    (found) => conditionOf(found, "Ready") === "False/ClaimDeleting",
  );
  expect(messageOf(reported)).toContain("data-logs-nodes-1 of node logs-nodes-1");
  expect(messageOf(reported)).toContain(`Retain on PersistentVolume ${spec?.volumeName ?? "?"}`);
  expect(await uids()).toEqual(before);
  await client.delete(pods, { namespace, name: "logs-nodes-1" });
  await bench.until("logs", isReady);
  const made = await client.get(persistentVolumeClaims, claim);
  expect(made.metadata.uid).not.toBe(metadata.uid);
  // What was declared meanwhile is carried out.
  await eventually(async (see) =>
    see([...(await uids()).values()]).every((uid) => ![...before.values()].includes(uid)),
  );
});
