import { configMaps, persistentVolumeClaims, pods, statefulSets } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { FakeEngine } from "../fakes/index.ts";
import { isReadyPod, operateWatched, type WatchedOperator } from "../support/disruptions.ts";
import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  messageOf,
  sayReady,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const minute = 60_000;
const exclude = "cluster.routing.allocation.exclude._name";
const managers = ["logs-managers-0", "logs-managers-1", "logs-managers-2"];
const victim = "logs-data-1";

function declared(data: number, clauses?: string): object {
  return aCluster("logs", {
    pools: [aPool("managers", 3, { roles: ["cluster_manager"] }), aPool("data", data, { roles: ["data"] })],
    general:
      clauses === undefined ? {} : { additionalConfig: { "indices.query.bool.max_clause_count": clauses } },
  });
}

/** One cluster goes through all of it; the last case ends it. */
describe("nodes that fail while the operator watches", () => {
  let bench: SearchBench;
  let operator: WatchedOperator;
  let engine: FakeEngine;

  beforeAll(async () => {
    bench = await setUpSearch({ isOperating: false, clockRate: 4 });
    operator = await operateWatched(bench);
    await bench.apply(declared(3));
    await bench.until("logs", isReady);
    engine = bench.engines.engine("logs");
    engine.createIndex("logs-data-0", { name: "orders", shards: 3, replicas: 1, documents: 30 });
    await eventually(() => engine.lostShards().length === 0 || undefined);
  });

  afterAll(async () => {
    await operator[Symbol.asyncDispose]();
    await bench[Symbol.asyncDispose]();
  });

  /** Nodes that the operator took away since then, in order. */
  function takenSince(at: number): readonly string[] {
    return operator.disruptions.slice(at).flatMap(({ nodes }) => nodes);
  }

  async function podUids(): Promise<ReadonlyMap<string, string>> {
    const list = await Array.fromAsync(bench.client.list(pods, { namespace: bench.namespace }));
    return new Map(list.map(({ metadata }) => [metadata.name, metadata.uid]));
  }

  async function untilReplaced(name: string, uid: string | undefined): Promise<void> {
    await eventually(async () => {
      const pod = await bench.client.find(pods, { namespace: bench.namespace, name });
      return pod !== undefined && pod.metadata.uid !== uid && isReadyPod(pod);
    });
  }

  async function untilHealed(nodes: number): Promise<void> {
    await bench.until("logs", (found) => {
      const { operation, nodePools = [], availableNodes, health } = found.status ?? {};
      const isRolled = nodePools.every(({ outdated }) => outdated === 0);
      return (
        isReady(found) &&
        operation === undefined &&
        isRolled &&
        availableNodes === nodes &&
        health === "green"
      );
    });
    expect(engine.lostShards()).toEqual([]);
    expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
  }

  /** As kubelet reports a container that is out of memory again and again. */
  async function outOfMemory(name: string): Promise<void> {
    bench.engines.down.add(name);
    const container = {
      name: "opensearch",
      image: "x",
      imageID: "x",
      ready: false,
      restartCount: 5,
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } },
    };
    const conditions = [{ type: "Ready", status: "False", reason: "ContainersNotReady" }];
    const body = { status: { conditions, containerStatuses: [container] } };
    await bench.client.patch(
      pods,
      { namespace: bench.namespace, name },
      { patch: { kind: "merge", body }, subresource: "status" },
    );
  }

  test("[faults/30] the process of a node is killed in peace: it is waited for, however long that takes, no pod is touched, and the cluster is green again", async () => {
    const [before, at] = [await podUids(), operator.disruptions.length];
    bench.engines.down.add(victim);
    await sayReady(bench, [victim], false);
    await bench.until("logs", (found) => conditionOf(found, "Ready") === "False/MemberMissing");
    bench.clock.advance(11 * minute);
    await bench.reconcile("logs", 4);
    bench.engines.down.delete(victim);
    await sayReady(bench, [victim], true);
    await untilHealed(6);
    expect(takenSince(at)).toEqual([]);
    expect(await podUids()).toEqual(before);
  });

  test("[faults/38] a data node that runs out of memory again and again is left alone, and restarted once for another configuration", async () => {
    const at = operator.disruptions.length;
    const first = (await podUids()).get(victim);
    await outOfMemory(victim);
    await bench.until(
      "logs",
      ({ status }) => status?.blockers?.some(({ message }) => message.includes("OOMKilled")) === true,
    );
    bench.clock.advance(11 * minute);
    await bench.reconcile("logs", 4);
    expect(takenSince(at)).toEqual([]);
    await bench.apply(declared(3, "2000"));
    await untilReplaced(victim, first);
    await outOfMemory(victim);
    bench.clock.advance(11 * minute);
    await bench.reconcile("logs", 4);
    expect(takenSince(at)).toEqual([victim]);
    bench.engines.down.delete(victim);
    await sayReady(bench, [victim], true);
    await untilHealed(6);
    expect(takenSince(at).toSorted()).toEqual([...(await podUids()).keys()].toSorted());
  });

  test("[faults/37] disks of other nodes are above their watermark: nothing is moved onto them and no node goes, and once there is room the node is emptied", async () => {
    const at = operator.disruptions.length;
    engine.holdsShards.add("logs-data-2");
    engine.load = { diskTotalBytes: 1_000, diskFreeBytes: 40 };
    await bench.apply(declared(2, "2000"));
    const refused = await bench.until(
      "logs",
      (found) => conditionOf(found, "Ready") === "False/ScaleDownRefused",
    );
    expect(messageOf(refused)).toContain("the disks of the other data nodes would be more than 81 % full");
    await bench.reconcile("logs", 4);
    expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
    engine.load = {};
    await eventually(() => engine.settings().persistent[exclude] === "logs-data-2" || undefined);
    engine.holdsShards.clear();
    await bench.apply(declared(3, "2000"));
    await untilHealed(6);
    expect(takenSince(at)).toEqual([]);
  });

  test("[faults/33] shards come back to a node that is emptied, because another client took its exclusion away: it is excluded again, and keeps its place until it is empty", async () => {
    const { client, namespace } = bench;
    const slots = async (): Promise<number | undefined> =>
      (await client.get(statefulSets, { namespace, name: "logs-data" })).spec.replicas;
    const holds = (): boolean => engine.state()?.shards.some(({ node }) => node === "logs-data-2") === true;
    const at = operator.disruptions.length;
    engine.holdsShards.add("logs-data-2");
    await bench.apply(declared(2, "2000"));
    await eventually(() => engine.settings().persistent[exclude] === "logs-data-2" || undefined);
    engine.putSettings({ persistent: { [exclude]: null } });
    engine.createIndex("logs-data-2", { name: "late", shards: 3, replicas: 1, documents: 3 });
    await eventually(() => engine.settings().persistent[exclude] === "logs-data-2" || undefined);
    expect(holds()).toBe(true);
    const shardReads = (): number => bench.engines.calls.filter((call) => call === "shards").length;
    const readBefore = shardReads();
    await eventually(() => shardReads() >= readBefore + 4 || undefined);
    expect(await slots()).toBe(3);
    engine.holdsShards.clear();
    await untilHealed(5);
    expect(operator.disruptions.slice(at)).toMatchObject([
      { by: "shrink", nodes: ["logs-data-2"], away: [], onlyCopies: [] },
    ]);
  });

  test("[faults/35] all managers are killed together: the same cluster is back within two minutes, and the operator touches nothing", async () => {
    const { client, namespace } = bench;
    const at = operator.disruptions.length;
    const { status } = await bench.get("logs");
    const before = await podUids();
    await Promise.all(
      managers.map(async (name) => await client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 })),
    );
    for (const name of managers) await untilReplaced(name, before.get(name));
    await untilHealed(before.size);
    expect(engine.uuids).toEqual([status?.clusterUuid]);
    expect(takenSince(at)).toEqual([]);
  });

  test("[faults/36] the volumes of two of three managers are lost: it is said, nothing is written, and no second cluster is founded", async () => {
    const { client, namespace } = bench;
    const at = operator.disruptions.length;
    const { status } = await bench.get("logs");
    const lost = managers.slice(1);
    const before = await podUids();
    // Together: with the first one back on its new disk, the second one would be no majority.
    for (const name of lost) bench.engines.down.add(name);
    for (const name of lost) await client.delete(persistentVolumeClaims, { namespace, name: `data-${name}` });
    for (const name of lost) await client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
    for (const name of lost) await untilReplaced(name, before.get(name));
    bench.engines.down.clear();
    const position = await bench.cluster.audit.position();
    await bench.until("logs", (found) => conditionOf(found, "Available") === "False/Unreachable");
    bench.clock.advance(6 * minute);
    await bench.reconcile("logs", 2);
    const stopped = await bench.until("logs", (found) => conditionOf(found, "Ready") === "False/QuorumLost");
    expect(messageOf(stopped)).toContain("logs-managers-1, logs-managers-2");
    expect(stopped.status?.clusterUuid).toBe(status?.clusterUuid);
    bench.clock.advance(60 * minute);
    await bench.reconcile("logs", 4);
    expect(engine.uuids).toEqual([status?.clusterUuid]);
    const { data = {} } = await client.get(configMaps, { namespace, name: "logs-bootstrap" });
    expect(Object.values(data).filter((list) => list !== "")).toEqual([]);
    expect(takenSince(at)).toEqual([]);
    const written = (await bench.writes(position)).filter(
      ({ verb, resource }) => verb === "delete" || ["statefulsets", "configmaps"].includes(resource),
    );
    expect(written).toEqual([]);
  });
});
