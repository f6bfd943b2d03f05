import { type Pod, pods, statefulSets } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { aCluster, aPool, isReady, type SearchBench, setUpSearch } from "../support/search-bench.ts";

/** Keeps a pod that the controller of StatefulSets deletes as surplus. */
const finalizer = "tests.quartermaster.dev/stay";

/** A pod that looks as if the StatefulSet had made it, under an ordinal that a tenant chose. */
async function forgePod({ client, namespace }: SearchBench, name: string): Promise<void> {
  const set = await client.get(statefulSets, { namespace, name: "logs-nodes" });
  const real = await client.get(pods, { namespace, name: "logs-nodes-0" });
  const { uid } = set.metadata;
  await client.create<Pod>(pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      labels: { ...real.metadata.labels },
      finalizers: [finalizer],
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "StatefulSet", name: "logs-nodes", uid, controller: true },
      ],
    },
    spec: { containers: [{ name: "opensearch", image: "nowhere/none:1" }] },
  });
}

describe("what one tenant's object costs", () => {
  test("[security/104] a pod with the ordinal 300000000 and our labels takes no memory, and other clusters are served", async () => {
    await using bench = await setUpSearch();
    const { client, namespace } = bench;
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    await bench.until("logs", isReady);
    const name = "logs-nodes-300000000";
    await forgePod(bench, name);
    try {
      const before = process.memoryUsage().heapUsed;
      await bench.apply(aCluster("other", { pools: [aPool("nodes", 1)] }));
      await bench.until("other", isReady);
      // A new operator meets the pod with its first reconcile.
      await bench.stop();
      await bench.operate();
      await bench.apply(aCluster("logs", { pools: [aPool("nodes", 2)] }));
      await bench.until("logs", (found) => found.status?.nodes?.length === 2 && isReady(found));
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(500e6);
      expect(await client.find(pods, { namespace, name })).toBeDefined();
    } finally {
      const patch = { kind: "merge", body: { metadata: { finalizers: [] } } } as const;
      await client.patch(pods, { namespace, name }, { patch });
    }
  });
});
