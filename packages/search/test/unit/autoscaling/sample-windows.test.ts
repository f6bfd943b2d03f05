import { describe, expect, test } from "vitest";

import { autoscalingTurns, SampleWindows } from "../../../src/autoscaling/sample-windows.ts";
import type { EngineFacts, EngineIndex, NodeLoad } from "../../../src/engine/engine-facts.ts";
import type { SearchCluster } from "../../../src/model/search-cluster.ts";
import type { Seen } from "../../../src/seen.ts";
import { aPool, aSearchCluster } from "../../a-search-cluster.ts";
import { aPolicy, nowMs } from "../../support/a-policy.ts";
import { aRoll } from "../../support/a-roll.ts";

function clusterOf(policy = aPolicy()): SearchCluster {
  return aSearchCluster({
    pools: [
      aPool({ name: "managers", replicas: 1, roles: ["cluster_manager"] }),
      aPool({ name: "data", replicas: 2, roles: ["data"], autoscaling: policy }),
    ],
  });
}

const nodes = ["logs-managers-0", "logs-data-0", "logs-data-1"];

/** An operator's memory, and a clock. */
class Stage {
  ms = nowMs;
  responses: ReadonlyMap<string, number> | undefined;
  refreshed = 0;
  readonly windows = new SampleWindows(
    { wallMs: () => this.ms },
    {
      of: () => this.responses,
      refresh: () => void (this.refreshed += 1),
      forget: () => undefined,
    },
  );
  seen: Seen;
  load: Partial<NodeLoad> = {};
  indices: readonly EngineIndex[] | undefined;

  constructor(cluster = clusterOf()) {
    this.seen = aRoll({ cluster });
    this.windows.keep(this.seen);
  }

  facts(only: readonly string[] = nodes): EngineFacts {
    const load = (node: string): NodeLoad => ({
      node,
      shards: 10,
      documents: 10,
      storeBytes: 100,
      diskTotalBytes: 1000,
      diskFreeBytes: 800,
      heapPercent: 30,
      cpuPercent: 60,
      searchQueue: 0,
      writeRejections: 0,
      ...this.load,
    });
    return {
      ...this.seen.engine,
      nodeLoad: { isKnown: true, value: only.map(load), atMs: this.ms },
      indices:
        this.indices === undefined
          ? { isKnown: false, why: "not asked" }
          : { isKnown: true, value: this.indices, atMs: this.ms },
    };
  }

  /** Half a minute later the engine says something. */
  tick(times = 1, facts?: EngineFacts): boolean {
    let isWoken = false;
    for (let at = 0; at < times; at += 1) {
      this.ms += 30_000;
      isWoken = this.windows.take(this.seen.cluster.uid, facts ?? this.facts());
    }
    return isWoken;
  }

  /** A reconcile, which sees what is known now. */
  reconcile(): void {
    this.seen = { ...this.seen, autoscaling: this.windows.of(this.seen.cluster.uid) };
    this.windows.keep(this.seen);
  }

  samples(): readonly (readonly [number, number, object])[] {
    const found = this.windows.of(this.seen.cluster.uid).samples.get("data") ?? [];
    return found.map(({ nodes: all, missing, values }) => [all, missing, values]);
  }
}

describe("the queries", () => {
  test("nothing more of a cluster without auto-scaling; statistics, and now and then the copies, of one with it", () => {
    expect(autoscalingTurns(aSearchCluster())).toEqual([]);
    const turns = autoscalingTurns(clusterOf());
    expect(turns.filter((turn) => turn === "indices")).toHaveLength(1);
    expect(turns.filter((turn) => turn === "nodeLoad")).toHaveLength(9);
    expect(turns[0]).toBe("nodeLoad");
  });
});

describe("samples", () => {
  test("are those of the pool's own nodes, once each, and rejections are those of the last minute", () => {
    const stage = new Stage();
    stage.load = { writeRejections: 100 };
    stage.tick();
    stage.load = { writeRejections: 110, searchQueue: 4 };
    stage.tick();
    const same = stage.facts();
    stage.windows.take("1f2e", same);
    stage.load = { writeRejections: 5 };
    stage.tick();
    const rest = { Cpu: 60, Heap: 30, Disk: 20, ShardsPerNode: 10 };
    expect(stage.samples()).toEqual([
      [2, 0, { ...rest, SearchQueue: 0 }],
      [2, 0, { ...rest, SearchQueue: 4, WriteRejections: 20 }],
      // Started again: it counts from nothing.
      [2, 0, { ...rest, SearchQueue: 0, WriteRejections: 10 }],
    ]);
  });

  test("count nodes that said nothing", () => {
    const stage = new Stage();
    stage.tick(1, stage.facts(["logs-data-0"]));
    stage.ms += 1_000;
    stage.tick(1, stage.facts(["logs-managers-0"]));
    expect(stage.samples().map(([all, missing, values]) => [all, missing, Object.keys(values)])).toEqual([
      [2, 1, ["Cpu", "Heap", "Disk", "ShardsPerNode", "SearchQueue"]],
      [2, 2, []],
    ]);
  });

  test("leave a metric out that one of the nodes does not tell", () => {
    const stage = new Stage();
    stage.load = { searchQueue: undefined, writeRejections: undefined };
    stage.tick(2);
    expect(stage.samples().map(([, , values]) => Object.keys(values))).toEqual([
      ["Cpu", "Heap", "Disk", "ShardsPerNode"],
      ["Cpu", "Heap", "Disk", "ShardsPerNode"],
    ]);
  });

  test("leave Cpu out while a node cannot tell it, so that no node goes for it", () => {
    const stage = new Stage();
    stage.load = { cpuPercent: undefined };
    stage.tick();
    expect(stage.samples().map(([, , values]) => Object.keys(values))).toEqual([
      ["Heap", "Disk", "ShardsPerNode", "SearchQueue"],
    ]);
  });

  test("are kept for an hour and a little, however long it lasts", () => {
    const stage = new Stage();
    stage.tick(1_000);
    expect(stage.samples().length).toBeGreaterThan(120);
    expect(stage.samples().length).toBeLessThan(130);
  });

  test("of a clock that was set back do not stay in the future", () => {
    const stage = new Stage();
    stage.tick(10);
    stage.ms -= 3_600_000;
    stage.tick();
    expect(stage.samples()).toHaveLength(1);
  });

  test("[search/SC-90] hold what Prometheus said to the pool's own queries; before it was queried there are none", () => {
    const query = "__proto__";
    const stage = new Stage(clusterOf(aPolicy({ metrics: [{ type: "Prometheus", query, target: 5 }] })));
    const reported = (): readonly unknown[] =>
      stage.samples().map(([, , values]) => Object.entries(values).filter(([key]) => key.startsWith("Prom")));
    stage.tick();
    expect(reported()).toEqual([]);
    stage.responses = new Map([
      [query, 7],
      ["another", 8],
    ]);
    stage.tick();
    stage.responses = new Map();
    stage.tick();
    expect(reported()).toEqual([[["Prometheus:__proto__", 7]], []]);
    expect(stage.refreshed).toBe(3);
  });

  test("of a pool that has no auto-scaling any more are forgotten, and so is the cluster", () => {
    const stage = new Stage();
    stage.tick(3);
    stage.windows.keep({ ...stage.seen, cluster: aSearchCluster() });
    expect(stage.samples()).toEqual([]);
    expect(stage.tick()).toBe(false);
  });
});

describe("copies", () => {
  test("are those of the index with most of them; what the engine fits to the nodes does not count; old news is none", () => {
    const stage = new Stage();
    expect(stage.windows.of("1f2e").mostCopies).toBeUndefined();
    stage.indices = [
      { name: "orders", replicas: 2, isAutoExpanded: false },
      { name: ".security", replicas: 8, isAutoExpanded: true },
    ];
    stage.tick();
    expect(stage.windows.of("1f2e").mostCopies).toBe(3);
    const old = stage.facts();
    stage.indices = undefined;
    stage.tick(29, old);
    expect(stage.windows.of("1f2e").mostCopies).toBe(3);
    stage.tick(1, old);
    expect(stage.windows.of("1f2e").mostCopies).toBeUndefined();
  });
});

test("the first minute and a half of a cluster's window are its beginning", () => {
  const stage = new Stage();
  expect(stage.windows.of("another").hasJustBegun).toBe(true);
  expect(stage.windows.of("1f2e").hasJustBegun).toBe(true);
  stage.ms += 90_001;
  stage.reconcile();
  expect(stage.windows.of("1f2e").hasJustBegun).toBe(false);
});

describe("wakes", () => {
  test("no one while the response is the same, whatever the load does within the tolerance", () => {
    const stage = new Stage();
    stage.tick();
    stage.reconcile();
    const woken = [57, 63, 55, 65].map((cpuPercent) => {
      stage.load = { cpuPercent };
      return stage.tick();
    });
    expect(woken).toEqual([false, false, false, false]);
  });

  test("the reconcile whose window is full of a higher load, and not before", () => {
    const stage = new Stage();
    stage.tick(10);
    stage.reconcile();
    stage.load = { cpuPercent: 95 };
    expect([1, 2, 3, 4].map(() => stage.tick())).toEqual([false, false, false, false]);
    expect(stage.tick()).toBe(true);
  });

  test("a new operator begins with an empty window: fewer nodes only after half an hour of samples", () => {
    const stage = new Stage(clusterOf(aPolicy({ minReplicas: 1 })));
    stage.load = { cpuPercent: 5 };
    stage.indices = [];
    stage.tick();
    stage.reconcile();
    const waits = Array.from({ length: 200 }, (_, at) => at).find(() => stage.tick());
    expect(waits).toBe(59);
  });
});
