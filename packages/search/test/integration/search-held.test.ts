import { pods, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually, serverError, startFaultProxy } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const changed = { additionalConfig: { "indices.query.bool.max_clause_count": "2000" } };
const enable = "cluster.routing.allocation.enable";
const exclude = "cluster.routing.allocation.exclude._name";
const orders = { name: "orders", shards: 2, replicas: 1, documents: 10 } as const;
const nothing = { persistent: {}, transient: {} };

async function podUids({ client, namespace }: SearchBench): Promise<readonly string[]> {
  const list = await Array.fromAsync(client.list(pods, { namespace }));
  return list.map(({ metadata }) => metadata.uid).toSorted();
}

describe("a cluster that is held in the middle of an operation", () => {
  test("paused while allocation is frozen for a restart: allocation is opened, no one restarts; it continues when the pause ends", async () => {
    await using bench = await setUpSearch({ isOperating: false });
    await using proxy = await startFaultProxy({ upstream: bench.operator });
    await bench.operate({ ...proxy.access, token: bench.operator.token });
    const spec = (isPaused: boolean): object => ({ operations: { paused: isPaused } });
    const pools = [aPool("nodes", 3)];
    await bench.apply(aCluster("logs", { pools }));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-nodes-0", orders);
    const before = await podUids(bench);
    let isRefusing = true;
    const refused = proxy.inject(
      ({ verb, resource }) => isRefusing && verb === "delete" && resource === "pods",
      serverError(500),
      10_000,
    );
    await bench.apply(aCluster("logs", { pools, general: changed }));
    await eventually(() => engine.settings().persistent[enable] === "primaries" || undefined);
    await eventually(() => refused.hits > 0 || undefined);
    await bench.apply(aCluster("logs", { pools, general: changed, spec: spec(true) }));
    const paused = await bench.until(
      "logs",
      (found) => conditionOf(found, "Ready") === "False/Paused" && found.status?.operation === undefined,
    );
    expect(paused.status?.nodePools?.[0]?.outdated).toBe(3);
    expect(engine.settings()).toEqual(nothing);
    expect(await podUids(bench)).toEqual(before);
    isRefusing = false;
    await bench.apply(aCluster("logs", { pools, general: changed, spec: spec(false) }));
    await bench.until(
      "logs",
      (found) => isReady(found) && found.status?.nodePools?.every(({ outdated }) => outdated === 0) === true,
    );
    expect((await podUids(bench)).filter((uid) => before.includes(uid))).toEqual([]);
    expect(engine.settings()).toEqual(nothing);
    expect(engine.lostShards()).toEqual([]);
  });

  test("a spec that cannot be carried out in mid-drain: the exclusion is taken back, the place stays; corrected, the node is removed", async () => {
    await using bench = await setUpSearch();
    const sized = (replicas: number, general: object = {}): object =>
      aCluster("logs", { pools: [aPool("nodes", replicas)], general });
    await bench.apply(sized(3));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-nodes-0", orders);
    engine.holdsShards.add("logs-nodes-2");
    await bench.apply(sized(2));
    await eventually(() => engine.settings().persistent[exclude] === "logs-nodes-2" || undefined);
    await bench.apply(sized(2, { additionalConfig: { "cluster.name": "mine" } }));
    await bench.until(
      "logs",
      (found) =>
        conditionOf(found, "Stalled") === "True/ReservedSetting" && found.status?.operation === undefined,
    );
    expect(engine.settings()).toEqual(nothing);
    const set = await bench.client.get(statefulSets, { namespace: bench.namespace, name: "logs-nodes" });
    expect(set.spec.replicas).toBe(3);
    engine.holdsShards.clear();
    await bench.apply(sized(2));
    await bench.until("logs", (found) => isReady(found) && found.status?.availableNodes === 2);
    expect(engine.settings()).toEqual(nothing);
    expect(engine.lostShards()).toEqual([]);
  });

  test("[search/SC-106] while it is paused edits are not carried out, and certificates are renewed", async () => {
    await using bench = await setUpSearch();
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)] }));
    await bench.until("logs", (found) => isReady(found) && found.status?.certificates?.served !== undefined);
    const paused = { operations: { paused: true } };
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1)], spec: paused }));
    await bench.until("logs", (found) => conditionOf(found, "Ready") === "False/Paused");
    const position = await bench.cluster.audit.position();
    await bench.apply(
      aCluster("logs", {
        pools: [aPool("nodes", 3)],
        general: changed,
        spec: paused,
        annotations: { "search.quartermaster.dev/renew-certificates": "1" },
      }),
    );
    await bench.until(
      "logs",
      ({ status }) =>
        status?.certificates?.renewed === "1" &&
        status.certificates.staleNodes === undefined &&
        status.nodePools?.[0]?.outdated === 1,
    );
    const written = (await bench.writes(position)).map(({ resource }) => resource);
    expect([...new Set(written)].toSorted()).toEqual(["opensearchclusters", "secrets"]);
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 3)], general: changed }));
    await bench.until("logs", (found) => isReady(found) && found.status?.availableNodes === 3);
  });
});
