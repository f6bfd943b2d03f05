import { pods } from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import { isReadyPod, operateWatched } from "../support/disruptions.ts";
import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  messageOf,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

const manager = aPool("managers", 1, { roles: ["cluster_manager"] });

async function untilRolled(bench: SearchBench): Promise<void> {
  await bench.until("logs", (found) => {
    const { operation, nodePools = [] } = found.status ?? {};
    return isReady(found) && operation === undefined && nodePools.every(({ outdated }) => outdated === 0);
  });
}

/** The successor of a pod ends three times and waits, as the kubelet reports it. */
async function crashLoop({ client, namespace }: SearchBench, name: string, uid: string): Promise<void> {
  await eventually(async () => {
    const pod = await client.find(pods, { namespace, name });
    return pod !== undefined && pod.metadata.uid !== uid && isReadyPod(pod);
  });
  const container = {
    name: "opensearch",
    image: "x",
    imageID: "x",
    ready: false,
    restartCount: 3,
    state: { waiting: { reason: "CrashLoopBackOff" } },
    lastState: { terminated: { exitCode: 78, reason: "Error" } },
  };
  const conditions = [{ type: "Ready", status: "False", reason: "ContainersNotReady" }];
  const body = { status: { conditions, containerStatuses: [container] } };
  await client.patch(pods, { namespace, name }, { patch: { kind: "merge", body }, subresource: "status" });
}

describe("a node that does not come back", () => {
  test("[search/SC-49] a plugin that crashes one pod stops the roll there; corrected, the broken pod goes first and the rest follows", async () => {
    await using bench = await setUpSearch({ isOperating: false });
    await using operator = await operateWatched(bench);
    const { client, namespace, engines } = bench;
    const declared = (...pluginsList: readonly string[]): object =>
      aCluster("logs", {
        pools: [manager, aPool("data", 2, { roles: ["data"] })],
        general: pluginsList.length === 0 ? {} : { pluginsList },
      });
    await bench.apply(declared());
    await bench.until("logs", isReady);
    engines
      .engine("logs")
      .createIndex("logs-data-0", { name: "orders", shards: 2, replicas: 1, documents: 9 });
    const { metadata } = await client.get(pods, { namespace, name: "logs-data-1" });
    const taken = (): readonly string[] => operator.disruptions.map(({ nodes }) => nodes.join());
    await bench.apply(declared("analysis-icu"));
    await eventually(() => taken().length > 0 || undefined);
    engines.down.add("logs-data-1");
    await crashLoop(bench, "logs-data-1", metadata.uid);
    await bench.until(
      "logs",
      (found) => found.status?.blockers?.some(({ message }) => message.includes("exit code 78")) === true,
    );
    // As long as the same is declared nothing helps: it is left alone, and so are all others.
    await bench.reconcile("logs", 4);
    expect(taken()).toEqual(["logs-data-1"]);
    await bench.apply(declared("analysis-nori"));
    await eventually(() => taken().length === 2 || undefined);
    engines.down.clear();
    await untilRolled(bench);
    expect(taken()).toEqual(["logs-data-1", "logs-data-1", "logs-data-0", "logs-managers-0"]);
    expect(operator.disruptions.flatMap(({ away, onlyCopies }) => [...away, ...onlyCopies])).toEqual([]);
    expect(engines.engine("logs").settings()).toEqual({ persistent: {}, transient: {} });
  });

  test("[search/SC-55] an emptyDir with the only copy of a shard waits, and goes once another copy has started", async () => {
    await using bench = await setUpSearch({ isOperating: false });
    await using operator = await operateWatched(bench);
    const declared = (general: object): object =>
      aCluster("logs", {
        pools: [manager, aPool("data", 2, { roles: ["data"], persistence: { emptyDir: {} } })],
        general,
      });
    await bench.apply(declared({}));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-data-0", { name: "alone", shards: 2, replicas: 0, documents: 9 });
    await eventually(() => engine.lostShards().length === 0 || undefined);
    await bench.apply(declared({ additionalConfig: { "indices.query.bool.max_clause_count": "2000" } }));
    const refused = await bench.until(
      "logs",
      (found) => conditionOf(found, "Ready") === "False/RestartRefused",
    );
    expect(messageOf(refused)).toContain("ephemeralOnlyCopy: logs-data-1 keeps its data in an emptyDir");
    await bench.reconcile("logs", 4);
    const ofData = (): readonly string[] =>
      operator.disruptions.flatMap(({ nodes }) => nodes).filter((node) => node.includes("data"));
    expect(ofData()).toEqual([]);
    engine.createIndex("logs-data-0", { name: "alone", shards: 2, replicas: 1, documents: 9 });
    await untilRolled(bench);
    expect(ofData()).toEqual(["logs-data-1", "logs-data-0"]);
    expect(operator.disruptions.flatMap(({ away, onlyCopies }) => [...away, ...onlyCopies])).toEqual([]);
    expect(engine.lostShards()).toEqual([]);
  });
});
