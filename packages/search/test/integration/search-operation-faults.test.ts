import { pods, statefulSets } from "@quartermaster/runtime/kinds";
import {
  eventually,
  type FaultProxy,
  type SeenRequest,
  serverError,
  startFaultProxy,
} from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { aCluster, aPool, isReady, type SearchBench, setUpSearch } from "../support/search-bench.ts";

const changed = { general: { additionalConfig: { "indices.query.bool.max_clause_count": "2000" } } };
const enable = "cluster.routing.allocation.enable";
const orders = { name: "orders", shards: 2, replicas: 1, documents: 10 } as const;

/** A cluster that is as declared, and then nobody operates it. */
async function settledCluster(nodes: number): Promise<SearchBench> {
  const bench = await setUpSearch();
  await bench.apply(aCluster("logs", { pools: [aPool("nodes", nodes)] }));
  await bench.until("logs", isReady);
  bench.engines.engine("logs").createIndex("logs-nodes-0", orders);
  await bench.stop();
  return bench;
}

async function operateThrough(bench: SearchBench): Promise<FaultProxy> {
  const proxy = await startFaultProxy({ upstream: bench.operator });
  await bench.operate({ ...proxy.access, token: bench.operator.token });
  return proxy;
}

function isPodWatch({ verb, resource }: SeenRequest): boolean {
  return verb === "watch" && resource === "pods";
}

async function deletedPods(
  bench: SearchBench,
  mark: Parameters<SearchBench["writes"]>[0],
): Promise<readonly string[]> {
  return (await bench.writes(mark)).flatMap(({ verb, resource, name = "" }) =>
    verb === "delete" && resource === "pods" ? [name] : [],
  );
}

async function untilRolled(bench: SearchBench): Promise<void> {
  await bench.until(
    "logs",
    (found) =>
      isReady(found) &&
      found.status?.operation === undefined &&
      found.status?.nodePools?.every(({ outdated }) => outdated === 0) === true,
  );
}

describe("a roll while something is wrong", () => {
  test("[search/SC-45] with a store of pods that stopped after the first restart, nobody else is restarted", async () => {
    await using bench = await settledCluster(3);
    const gate = Promise.withResolvers<undefined>();
    let isFrozen = false;
    await using proxy = await startFaultProxy({ upstream: bench.operator });
    proxy.inject(
      isPodWatch,
      {
        kind: "watch",
        transform: async function* frozen(frames) {
          for await (const frame of frames) {
            if (isFrozen) await gate.promise;
            yield frame;
          }
        },
      },
      20,
    );
    await bench.operate({ ...proxy.access, token: bench.operator.token });
    const mark = await bench.cluster.audit.mark();
    isFrozen = true;
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 3)], ...changed }));
    await eventually(async () => ((await deletedPods(bench, mark)).length > 0 ? true : undefined));
    const asked = bench.engines.calls.filter((call) => call === "shards").length;
    // Many looks later, the store still shows the pod that is gone.
    await eventually(
      () => bench.engines.calls.filter((call) => call === "shards").length >= asked + 8 || undefined,
    );
    expect(await deletedPods(bench, mark)).toHaveLength(1);
    gate.resolve(undefined);
    await untilRolled(bench);
    expect(new Set(await deletedPods(bench, mark)).size).toBe(3);
    expect(await deletedPods(bench, mark)).toHaveLength(3);
  });

  test("[search/SC-59] [search/SC-51] writes of the status fail twenty times and the operator dies on the way: each pod goes once, allocation is open again", async () => {
    await using bench = await settledCluster(2);
    const mark = await bench.cluster.audit.mark();
    {
      await using proxy = await operateThrough(bench);
      await bench.apply(aCluster("logs", { pools: [aPool("nodes", 2)], ...changed }));
      await eventually(
        () => bench.engines.engine("logs").settings().persistent[enable] === "primaries" || undefined,
      );
      const failing = proxy.inject(({ subresource }) => subresource === "status", serverError(500), 20);
      await eventually(() => failing.hits >= 3 || undefined, { withinMs: 30_000 });
      await bench.stop();
    }
    await bench.operate();
    await untilRolled(bench);
    const deleted = await deletedPods(bench, mark);
    expect(deleted.toSorted()).toEqual(["logs-nodes-0", "logs-nodes-1"]);
    expect(bench.engines.engine("logs").settings()).toEqual({ persistent: {}, transient: {} });
  });

  test("[search/SC-53] a new operator that renders pods in another way restarts nobody", async () => {
    await using bench = await settledCluster(2);
    const uids = async (): Promise<readonly string[]> =>
      (await Array.fromAsync(bench.client.list(pods, { namespace: bench.namespace })))
        .map(({ metadata }) => metadata.uid)
        .toSorted();
    const before = await uids();
    const mark = await bench.cluster.audit.mark();
    // As an older operator would have left it: the StatefulSet's template differs from what this one renders.
    await bench.client.patch(
      statefulSets,
      { namespace: bench.namespace, name: "logs-nodes" },
      {
        patch: {
          kind: "merge",
          body: { spec: { template: { spec: { terminationGracePeriodSeconds: 77 } } } },
        },
      },
    );
    await bench.operate();
    await eventually(async () =>
      (await bench.writes(mark)).some(({ resource }) => resource === "statefulsets") ? true : undefined,
    );
    await bench.until("logs", isReady);
    expect(await uids()).toEqual(before);
  });
});
