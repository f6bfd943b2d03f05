import { pods, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { type Disruption, isReadyPod, operateWatched, type WatchedOperator } from "../support/disruptions.ts";
import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  sayReady,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const orders = { name: "orders", shards: 4, replicas: 1, documents: 100 } as const;
const exclude = "cluster.routing.allocation.exclude._name";
const minute = 60_000;

function logs(data: number, clauses?: string): object {
  return aCluster("logs", {
    pools: [aPool("managers", 1, { roles: ["cluster_manager"] }), aPool("data", data, { roles: ["data"] })],
    general:
      clauses === undefined ? {} : { additionalConfig: { "indices.query.bool.max_clause_count": clauses } },
  });
}

async function podUids({ client, namespace }: SearchBench): Promise<ReadonlyMap<string, string>> {
  const list = await Array.fromAsync(client.list(pods, { namespace }));
  return new Map(list.map(({ metadata }) => [metadata.name, metadata.uid]));
}

async function untilDone(bench: SearchBench, nodes: number): Promise<void> {
  await bench.until("logs", (found) => {
    const { operation, nodePools = [], availableNodes } = found.status ?? {};
    const isRolled = nodePools.every(({ outdated }) => outdated === 0);
    return isReady(found) && operation === undefined && isRolled && availableNodes === nodes;
  });
}

async function untilReplaced({ client, namespace }: SearchBench, name: string, uid: string): Promise<void> {
  await eventually(async () => {
    const pod = await client.find(pods, { namespace, name });
    return pod !== undefined && pod.metadata.uid !== uid && isReadyPod(pod);
  });
}

/** A pod goes by the hand of another client, and its successor, of another revision of the StatefulSet, is not ready for 11 minutes. */
async function reschedule(bench: SearchBench, name: string): Promise<void> {
  const { client, namespace } = bench;
  const { metadata } = await client.get(pods, { namespace, name });
  const body = { spec: { template: { metadata: { annotations: { "tests/revision": "2" } } } } };
  await client.patch(
    statefulSets,
    { namespace, name: "logs-data" },
    { patch: { kind: "merge", body }, fieldManager: "tests" },
  );
  await client.delete(pods, { namespace, name });
  await untilReplaced(bench, name, metadata.uid);
  await sayReady(bench, [name], false);
  await bench.until(
    "logs",
    (found) =>
      conditionOf(found, "Ready") === "False/MemberMissing" &&
      found.status?.nodes?.some((node) => node.name === name && node.member === false) === true,
  );
  bench.clock.advance(11 * minute);
  await bench.reconcile("logs", 4);
  expect(isReadyPod(await client.get(pods, { namespace, name }))).toBe(false);
  await sayReady(bench, [name], true);
}

/** Has the next node that is restarted stay away, and fewer nodes declared meanwhile. */
async function shrinkWhileDown(bench: SearchBench, { disruptions }: WatchedOperator): Promise<void> {
  const { client, namespace, engines } = bench;
  const before = disruptions.length;
  const since = (): readonly Disruption[] => disruptions.slice(before);
  await bench.apply(logs(3, "3000"));
  await eventually(() => since().some(({ nodes }) => nodes.includes("logs-data-1")) || undefined);
  engines.down.add("logs-data-1");
  await bench.apply(logs(2, "3000"));
  await bench.until("logs", (found) => found.status?.observedGeneration === found.metadata.generation);
  await bench.reconcile("logs", 5);
  expect((await client.get(statefulSets, { namespace, name: "logs-data" })).spec.replicas).toBe(3);
  expect(since().filter(({ by }) => by === "shrink")).toEqual([]);
  // The reverse: another configuration while that node is emptied.
  const engine = engines.engine("logs");
  engine.holdsShards.add("logs-data-2");
  engines.down.clear();
  await eventually(() => engine.settings().persistent[exclude] === "logs-data-2" || undefined);
  const restarted = since().length;
  await bench.apply(logs(2, "4000"));
  await bench.until("logs", (found) => found.status?.observedGeneration === found.metadata.generation);
  await bench.reconcile("logs", 5);
  expect(since()).toHaveLength(restarted);
  engine.holdsShards.clear();
  await untilDone(bench, 3);
  expect(since().filter(({ by }) => by === "shrink")).toMatchObject([{ nodes: ["logs-data-2"] }]);
}

describe("several things together", () => {
  test("[search/SC-52] [search/SC-46] [search/SC-47] [faults/34] a rescheduled pod is waited for, a smaller pool and another configuration in one edit take one node at a time, nothing shrinks while a restarted pod is down, and nothing restarts while a node is emptied", async () => {
    await using bench = await setUpSearch({ isOperating: false, clockRate: 4 });
    await using operator = await operateWatched(bench);
    const { disruptions } = operator;
    await bench.apply(logs(4));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-data-0", orders);
    await eventually(() => engine.lostShards().length === 0 || undefined);
    const first = await podUids(bench);
    await reschedule(bench, "logs-data-1");
    await untilDone(bench, 5);
    await bench.reconcile("logs", 3);
    expect(disruptions).toEqual([]);
    const second = await podUids(bench);
    expect([...first.keys()].filter((name) => second.get(name) !== first.get(name))).toEqual(["logs-data-1"]);

    // The removal and the roll are one after the other, and each node that stays restarts once.
    await bench.apply(logs(3, "2000"));
    await untilDone(bench, 4);
    expect(disruptions.map(({ by, nodes }) => `${by} ${nodes.join()}`).toSorted()).toEqual([
      "delete logs-data-0",
      "delete logs-data-1",
      "delete logs-data-2",
      "delete logs-managers-0",
      "shrink logs-data-3",
    ]);
    await shrinkWhileDown(bench, operator);
    expect(disruptions.flatMap(({ away, onlyCopies }) => [...away, ...onlyCopies])).toEqual([]);
    expect(engine.lostShards()).toEqual([]);
    expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
  });
});
