import { setTimeout as sleep } from "node:timers/promises";

import { defineKind, type Kind, type KubeObject, type Live } from "@quartermaster/runtime";
import {
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  pods,
  statefulSets,
} from "@quartermaster/runtime/kinds";
import { eventually } from "@quartermaster/testkit";
import { describe, expect, test } from "vitest";

import type { ClusterObject } from "../../src/model/read-cluster.ts";
import { allCrashes, liveAndDie } from "../support/live-and-die.ts";
import {
  aCluster,
  aPool,
  conditionOf,
  isReady,
  type SearchBench,
  setUpSearch,
} from "../support/search-bench.ts";

interface Event extends KubeObject {
  readonly reason?: string;
  readonly note?: string;
}

const events: Kind<Event> = defineKind<Event>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  scope: "Namespaced",
});

interface StorageClass extends KubeObject {
  readonly provisioner: string;
  readonly allowVolumeExpansion: boolean;
}

const storageClasses: Kind<StorageClass> = defineKind<StorageClass>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  plural: "storageclasses",
  scope: "Cluster",
});

const orders = { name: "orders", shards: 4, replicas: 1, documents: 100 } as const;

/** Windows of seconds instead of half an hour. */
const quick = {
  mode: "Auto",
  minReplicas: 1,
  maxReplicas: 5,
  metrics: [{ type: "Cpu", target: 60 }],
  scaleUp: { stabilizationSeconds: 1, maxStep: 5, cooldownSeconds: 1 },
  scaleDown: { stabilizationSeconds: 3, maxStep: 1, cooldownSeconds: 2 },
};

function logs(replicas: number, autoscaling?: object): object {
  return aCluster("logs", {
    pools: [
      aPool("managers", 1, { roles: ["cluster_manager"] }),
      aPool("data", replicas, { roles: ["data"], ...(autoscaling === undefined ? {} : { autoscaling }) }),
    ],
  });
}

/** The same with a Prometheus of its own. */
function monitored(cluster: object): object {
  const { spec, ...rest } = cluster as { readonly spec: { readonly general: object } };
  const monitoring = { enable: true, stack: { mode: "Standalone", grafana: { enable: false } } };
  return { ...rest, spec: { ...spec, general: { ...spec.general, monitoring } } };
}

type Row = NonNullable<NonNullable<NonNullable<ClusterObject["status"]>["autoscaling"]>["pools"]>[number];

function rowOf({ status }: Live<ClusterObject>): Partial<Row> {
  return status?.autoscaling?.pools?.[0] ?? {};
}

/** Looked at each second, however settled. */
async function setUp(): Promise<SearchBench> {
  return await setUpSearch({ sampling: { settledMs: 700, openMs: 700 } });
}

async function slotsOf({ client, namespace }: SearchBench): Promise<number> {
  return (await client.get(statefulSets, { namespace, name: "logs-data" })).spec.replicas ?? 0;
}

/** So many samples later. */
async function untilRequested({ engines }: SearchBench, samples: number): Promise<void> {
  const count = (): number => engines.calls.filter((call) => call === "nodeLoad").length;
  const before = count();
  await eventually(() => count() >= before + samples || undefined, { withinMs: 60_000 });
}

function isAt(nodes: number): (found: Live<ClusterObject>) => boolean {
  return (found) => isReady(found) && found.status?.availableNodes === nodes + 1;
}

describe("a pool that only coordinates", () => {
  test("[search/SC-129] follows its load up and down, and takes no document with it", async () => {
    await using bench = await setUp();
    const pool = aPool("front", 1, { roles: [], autoscaling: { ...quick, maxReplicas: 3 } });
    await bench.apply(aCluster("logs", { pools: [aPool("nodes", 1), pool] }));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-nodes-0", { ...orders, replicas: 0 });
    engine.load = { cpuPercent: 95 };
    await bench.until("logs", isAt(3));
    engine.load = { cpuPercent: 1 };
    await bench.until("logs", isAt(1));
    expect(engine.lostShards()).toEqual([]);
    const set = await bench.client.get(statefulSets, { namespace: bench.namespace, name: "logs-front" });
    expect(set.spec.replicas).toBe(1);
  });
});

describe("mode Auto", () => {
  test("[search/SC-91] the load falls: nodes are drained and removed one at a time, down to what the copies need and no further", async () => {
    await using bench = await setUp();
    await bench.apply(logs(3));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-data-0", orders);
    engine.load = { cpuPercent: 60 };
    await bench.apply(logs(3, quick));
    await bench.until("logs", (found) => isReady(found) && rowOf(found).target === 3);
    engine.load = { cpuPercent: 5 };
    const seen: string[] = [];
    const done = await bench.until("logs", (found) => {
      const { operation } = found.status ?? {};
      if (operation !== undefined && !seen.includes(operation.node)) seen.push(operation.node);
      return isAt(2)(found) && rowOf(found).limitedBy?.includes("IndexReplicas") === true;
    });
    expect(seen).toEqual(["logs-data-2"]);
    expect(rowOf(done)).toMatchObject({ mode: "Auto", current: 2, target: 2, recommendation: 2 });
    expect(rowOf(done).lastScaleDownTime).toBeDefined();
    await untilRequested(bench, 5);
    expect(await slotsOf(bench)).toBe(2);
    expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
    expect(engine.lostShards()).toEqual([]);
  });

  test("[search/SC-93] the target is not undone by replicas that are applied again; the limits and the mode are", async () => {
    await using bench = await setUp();
    await bench.apply(logs(3, quick));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.load = { cpuPercent: 95 };
    await bench.until("logs", isAt(5));
    engine.load = { cpuPercent: 60 };
    await bench.apply(logs(3, { ...quick, minReplicas: 2 }));
    const applied = await bench.until("logs", isAt(5));
    expect(applied.spec.nodePools[1]?.replicas).toBe(3);
    await untilRequested(bench, 5);
    expect(await slotsOf(bench)).toBe(5);
    expect(rowOf(await bench.get("logs"))).toMatchObject({ target: 5, recommendation: 5 });
    // Two edits: a lower limit holds immediately, and without auto-scaling the spec is as good as its word.
    await bench.apply(logs(3, { ...quick, maxReplicas: 4 }));
    await bench.until("logs", isAt(4));
    await bench.apply(logs(3, { ...quick, mode: "Off" }));
    const off = await bench.until("logs", isAt(3));
    expect(off.status?.autoscaling).toBeUndefined();
  });

  test("a removal that the disks of the others could not bear is taken back before anything is excluded", async () => {
    await using bench = await setUp();
    await bench.apply(logs(3));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.createIndex("logs-data-0", { ...orders, replicas: 0 });
    engine.load = { cpuPercent: 5, diskTotalBytes: 1000, diskFreeBytes: 100 };
    await bench.apply(logs(3, quick));
    const refused = await bench.until(
      "logs",
      (found) => isAt(3)(found) && rowOf(found).limitedBy?.includes("ScaleDownRefused") === true,
    );
    expect(rowOf(refused)).toMatchObject({ target: 3, current: 3 });
    expect(rowOf(refused).message).toContain("logs-data-2 is not removed: the disks");
    expect(engine.settings()).toEqual({ persistent: {}, transient: {} });
    expect(await slotsOf(bench)).toBe(3);
  });

  test("[search/SC-90] without samples nothing goes; once they are back, and the window has filled, it does", async () => {
    await using bench = await setUp();
    await bench.apply(logs(2));
    await bench.until("logs", isReady);
    const engine = bench.engines.engine("logs");
    engine.load = { cpuPercent: 5 };
    await bench.stop();
    engine.faults.plan({ call: "nodeLoad", fault: { kind: "throw", code: "timeout" } });
    await bench.operate();
    await bench.apply(logs(2, quick));
    const blind = await bench.until("logs", (found) => rowOf(found).limitedBy !== undefined);
    expect(rowOf(blind)).toMatchObject({ target: 2, limitedBy: ["SamplesMissing"] });
    await untilRequested(bench, 5);
    expect(await slotsOf(bench)).toBe(2);
    engine.faults.clear();
    await bench.until("logs", isAt(1));
  });

  test("[search/SC-90] a query adds nodes; once Prometheus is silent none goes, and once it answers again one does", async () => {
    await using bench = await setUp();
    const query = "avg(searches)";
    const own = logs(1, { ...quick, maxReplicas: 2, metrics: [{ type: "Prometheus", query, target: 100 }] });
    bench.prometheus.responses.set(query, 170);
    await bench.apply(monitored(own));
    const grown = await bench.until("logs", (found) => isAt(2)(found) && rowOf(found).target === 2);
    expect(rowOf(grown).metrics).toEqual([{ type: "Prometheus", target: 100, recommendation: 2 }]);
    expect(new Set(bench.prometheus.requested.map(([serverName]) => serverName))).toEqual(
      new Set([`logs-prometheus.${bench.namespace}.svc`]),
    );
    bench.prometheus.responses.clear();
    await bench.until("logs", (found) => rowOf(found).limitedBy?.includes("PrometheusSilent") === true);
    expect(conditionOf(await bench.get("logs"), "AutoscalingActive")).toBe("False/PrometheusSilent");
    await untilRequested(bench, 5);
    expect(await slotsOf(bench)).toBe(2);
    bench.prometheus.responses.set(query, 10);
    await bench.until("logs", isAt(1));
  });

  test(
    "the operator is killed at every write of a growth: the same end, and the target is in the status before a node comes",
    { timeout: 300_000 },
    async () => {
      await using bench = await setUp();
      await bench.apply(logs(1));
      await bench.until("logs", isReady);
      await bench.stop();
      bench.engines.engine("logs").load = { cpuPercent: 95 };
      await bench.apply(logs(1, { ...quick, maxReplicas: 2 }));
      const [crash] = allCrashes;
      await liveAndDie(bench, crash, async () => {
        const found = await bench.get("logs");
        const isKept = (await slotsOf(bench)) <= Math.max(1, rowOf(found).target ?? 1);
        expect(isKept).toBe(true);
        return isAt(2)(found);
      });
      expect(rowOf(await bench.get("logs"))).toMatchObject({ target: 2, current: 2 });
    },
  );

  test("while the response is the same, nothing is written and the API server is not asked, whatever samples say", async () => {
    await using bench = await setUp();
    await bench.apply(logs(2, { ...quick, minReplicas: 2 }));
    const engine = bench.engines.engine("logs");
    engine.load = { cpuPercent: 60 };
    await bench.until("logs", (found) => isReady(found) && rowOf(found).limitedBy === undefined);
    // The last status may still be on its way back.
    await sleep(3_000);
    const position = await bench.cluster.audit.position();
    for (const cpuPercent of [57, 63, 55, 65, 60]) {
      engine.load = { cpuPercent };
      await untilRequested(bench, 2);
    }
    const entries = await bench.cluster.audit.since(position, {});
    const ours = entries.filter(
      ({ user, verb }) => user.endsWith(`:${bench.namespace}:operator`) && verb !== "watch",
    );
    expect(ours.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([]);
  });
});

describe("volumes", () => {
  /** Disks are nearly full, and stay so. */
  const storage = {
    ...quick,
    minReplicas: 2,
    maxReplicas: 3,
    metrics: [{ type: "Disk", target: 60 }],
    storage: { maxSize: "1500Mi" },
  };

  async function withClass(
    bench: SearchBench,
    allowVolumeExpansion: boolean,
  ): Promise<AsyncDisposable & object> {
    const name = `${bench.namespace}-${String(allowVolumeExpansion)}`;
    await bench.client.create(storageClasses, {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name },
      provisioner: "example.com/nobody",
      allowVolumeExpansion,
    });
    const persistence = { pvc: { storageClass: name } };
    const pools = [
      aPool("managers", 1, { roles: ["cluster_manager"] }),
      aPool("data", 2, { roles: ["data"], persistence, autoscaling: storage }),
    ];
    await bench.apply(aCluster("logs", { pools }));
    return {
      [Symbol.asyncDispose]: async () =>
        await bench.client.delete(storageClasses, { name }).then(() => undefined),
    };
  }

  async function claimsOf({
    client,
    namespace,
  }: SearchBench): Promise<readonly Live<PersistentVolumeClaim>[]> {
    const claims = await Array.fromAsync(client.list(persistentVolumeClaims, { namespace }));
    return claims.filter(({ metadata }) => metadata.name.startsWith("data-logs-data-"));
  }

  async function sizes(bench: SearchBench): Promise<readonly string[]> {
    return (await claimsOf(bench)).map(({ spec }) => spec?.resources?.requests?.["storage"] ?? "");
  }

  test("[search/SC-95] full disks: volumes grow to their limit, and only then a node is added", async () => {
    await using bench = await setUp();
    await using stack = new AsyncDisposableStack();
    stack.use(await withClass(bench, true));
    await bench.until("logs", isReady);
    bench.engines.engine("logs").load = { diskTotalBytes: 1000, diskFreeBytes: 100 };
    const seen: string[] = [];
    const done = await bench.until("logs", (found) => {
      const { volumeSize = "none", target = 0 } = rowOf(found);
      const step = `${String(target)} nodes, ${volumeSize}`;
      if (seen.at(-1) !== step) seen.push(step);
      return isAt(3)(found);
    });
    expect(seen.filter((step) => step.startsWith("3"))).toEqual(["3 nodes, 1500Mi"]);
    expect(rowOf(done)).toMatchObject({ volumeSize: "1500Mi", target: 3 });
    // The new node's volume is brought to the same size.
    const all = await eventually(async () => {
      const found = await sizes(bench);
      return found.every((size) => size === "1500Mi") ? found : undefined;
    });
    expect(all).toHaveLength(3);
  });

  test("[search/SC-95] [faults/42] a StorageClass that does not allow it: nodes are added, it is told, and no claim or pod is deleted", async () => {
    await using bench = await setUp();
    await using stack = new AsyncDisposableStack();
    stack.use(await withClass(bench, false));
    await bench.until("logs", isReady);
    const uids = async (): Promise<readonly string[]> =>
      [...(await claimsOf(bench)), ...(await Array.fromAsync(bench.client.list(pods, bench)))].map(
        ({ metadata }) => metadata.uid,
      );
    const [before, position] = [await uids(), await bench.cluster.audit.position()];
    bench.engines.engine("logs").load = { diskTotalBytes: 1000, diskFreeBytes: 100 };
    const done = await bench.until("logs", isAt(3));
    expect(rowOf(done).limitedBy).toContain("ExpansionUnsupported");
    expect(await uids()).toEqual(expect.arrayContaining([...before]));
    expect((await bench.writes(position)).filter(({ verb }) => verb.startsWith("delete"))).toEqual([]);
    expect(await sizes(bench)).toEqual(["1Gi", "1Gi", "1Gi"]);
  });
});

describe("mode Recommend", () => {
  test("[search/SC-92] the load rises and falls: status and events say so, and nothing else is written", async () => {
    await using bench = await setUp();
    await bench.apply(logs(2, { ...quick, mode: "Recommend" }));
    const engine = bench.engines.engine("logs");
    engine.load = { cpuPercent: 60 };
    await bench.until("logs", (found) => isReady(found) && rowOf(found).recommendation === 2);
    await sleep(3_000);
    const position = await bench.cluster.audit.position();
    engine.load = { cpuPercent: 90 };
    const more = await bench.until("logs", (found) => rowOf(found).recommendation === 3);
    expect(rowOf(more)).toMatchObject({ mode: "Recommend", current: 2 });
    expect(rowOf(more).target).toBeUndefined();
    engine.load = { cpuPercent: 10 };
    await bench.until("logs", (found) => rowOf(found).recommendation === 1);
    expect(await slotsOf(bench)).toBe(2);
    const written = await bench.writes(position);
    expect(new Set(written.map(({ resource, subresource }) => `${resource}/${subresource ?? ""}`))).toEqual(
      new Set(["opensearchclusters/status"]),
    );
    const notes = await eventually(async () => {
      const list = await Array.fromAsync(bench.client.list(events, { namespace: bench.namespace }));
      const reported = list
        .filter(({ reason }) => reason === "RecommendationChanged")
        .map(({ note }) => note);
      return reported.length >= 2 ? reported : undefined;
    });
    expect(notes).toContain("Pool data should have 3 nodes; before it was 2.");
  });
});

describe("what cannot be", () => {
  test("the API server refuses limits, targets and managers that make no sense, and says what to write", async () => {
    await using bench = await setUpSearch({ isOperating: false });
    const refusal = async (object: object): Promise<string> =>
      await bench.apply(object).then(
        () => "accepted",
        (error: unknown) => String(error),
      );
    expect(await refusal(logs(3, { ...quick, minReplicas: 6 }))).toContain(
      "minReplicas must not be greater than maxReplicas",
    );
    expect(await refusal(logs(3, { ...quick, metrics: [{ type: "Cpu", target: 101 }] }))).toContain(
      "is a percentage: write 1 to 100",
    );
    const query = { type: "Prometheus", query: "up", target: 1 };
    const metrics = async (...list: readonly object[]): Promise<string> =>
      await refusal(logs(3, { ...quick, metrics: list }));
    expect(await metrics({ type: "Prometheus", target: 1 })).toContain("type Prometheus needs a query");
    expect(await metrics({ type: "Cpu", query: "up", target: 1 })).toContain("no other type has one");
    expect(await metrics({ ...query, query: "" })).toContain("at least 1 chars long");
    expect(await metrics(query, { ...query, query: "a" }, { ...query, query: "b" })).toContain("at most two");
    expect(await metrics(query, query)).toContain("may be there once");
    expect(await metrics(...quick.metrics, ...quick.metrics)).toContain("may be there once");
    expect(await metrics(query, { ...query, query: "a" }, ...quick.metrics)).toBe("accepted");
    expect(await refusal(logs(3, { ...quick, mode: "External" }))).toContain('supported values: "Off"');
    expect(await refusal(aCluster("logs", { pools: [aPool("nodes", 3, { autoscaling: quick })] }))).toContain(
      "mode Auto is not for pools with role cluster_manager",
    );
  });
});
