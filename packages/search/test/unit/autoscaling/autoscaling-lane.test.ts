import { describe, expect, test } from "vitest";

import { autoscalingLane } from "../../../src/autoscaling/autoscaling-lane.ts";
import type { PoolRow } from "../../../src/autoscaling/pool-facts.ts";
import type { PoolSample } from "../../../src/autoscaling/pool-sample.ts";
import type { AutoscalingSeen } from "../../../src/autoscaling/sample-windows.ts";
import { decideLane, type LaneDecision } from "../../../src/lane.ts";
import type { AutoscalingPolicy } from "../../../src/model/autoscaling-policy.ts";
import { nodesLane } from "../../../src/nodes/nodes-lane.ts";
import { clusterReport } from "../../../src/report/cluster-report.ts";
import { aPool, aSearchCluster } from "../../a-search-cluster.ts";
import { aPolicy, nowMs, steady } from "../../support/a-policy.ts";
import { aRoll, type RollChanges, shardOn } from "../../support/a-roll.ts";
import { known } from "../../support/a-seen.ts";

const now = new Date(nowMs);
const minutesAgo = (minutes: number): string => new Date(nowMs - minutes * 60_000).toISOString();

interface State extends RollChanges {
  readonly samples?: readonly PoolSample[];
  readonly policy?: Partial<AutoscalingPolicy>;
  /** Nodes of the data pool by the status or the spec. */
  readonly replicas?: number;
  readonly row?: Partial<PoolRow>;
  readonly copies?: number | "unknown";
  readonly hasJustBegun?: boolean;
  readonly refusedVolumes?: ReadonlySet<string>;
}

function decide(state: State): LaneDecision {
  const {
    samples = [],
    policy,
    replicas = 4,
    row,
    copies = 2,
    status = {},
    hasJustBegun = false,
    refusedVolumes = new Set(),
  } = state;
  const cluster = aSearchCluster({
    pools: [
      aPool({ name: "managers", replicas: 1, roles: ["cluster_manager"] }),
      aPool({ name: "data", replicas, roles: ["data"], autoscaling: aPolicy(policy) }),
    ],
  });
  const autoscaling: AutoscalingSeen = {
    samples: new Map([["data", samples]]),
    mostCopies: copies === "unknown" ? undefined : copies,
    hasJustBegun,
    refusedVolumes,
  };
  const rows =
    row === undefined ? {} : { autoscaling: { pools: [{ pool: "data", mode: "Auto" as const, ...row }] } };
  const seen = aRoll({ cluster, ...state, status: { ...status, ...rows }, seen: { autoscaling } });
  return decideLane(autoscalingLane, seen, now);
}

function rowIn({ intent }: LaneDecision): Partial<PoolRow> {
  return intent?.autoscaling?.pools?.[0] ?? {};
}

function notesIn({ actions }: LaneDecision): readonly string[] {
  return actions.flatMap((action) => (action.kind === "record" ? [action.event.note] : []));
}

const calm = steady({ Cpu: 10 }, 40);
const busy = steady({ Cpu: 90 }, 3);

describe("Auto", () => {
  test("more load raises the target in the status, with the time, an event, and a look right after", () => {
    const decided = decide({ samples: busy });
    expect(rowIn(decided)).toEqual({
      pool: "data",
      mode: "Auto",
      current: 4,
      target: 6,
      recommendation: 6,
      lastScaleUpTime: now.toISOString().replace(".000", ""),
      metrics: [{ type: "Cpu", target: 60, recommendation: 6 }],
    });
    expect(decided.outcome).toMatchObject({ kind: "waiting", why: { reason: "Scaling" }, retryAfterMs: 20 });
    expect(notesIn(decided)).toEqual(["Auto-scaling brings pool data from 4 to 6 nodes."]);
  });

  test("once the target is what nodes are counted by, nothing is said again", () => {
    const row = { target: 6, recommendation: 6, lastScaleUpTime: minutesAgo(1) };
    const decided = decide({ samples: busy, replicas: 6, row, slots: { data: 4 } });
    expect(rowIn(decided)).toMatchObject({ current: 4, target: 6, lastScaleUpTime: minutesAgo(1) });
    expect(decided.outcome.kind).toBe("settled");
    expect(notesIn(decided)).toEqual([]);
  });

  test("less load lowers it by one, if nothing moves", () => {
    const decided = decide({ samples: calm });
    expect(rowIn(decided)).toMatchObject({ target: 3, recommendation: 2 });
    expect(rowIn(decided).lastScaleDownTime).toBeDefined();
    expect(notesIn(decided)).toEqual(["Auto-scaling brings pool data from 4 to 3 nodes."]);
  });

  test.each<{ readonly name: string; readonly state: State; readonly limit: string }>([
    {
      name: "an operation is open",
      state: {
        status: {
          operation: {
            id: "restart-1",
            type: "Restart",
            pool: "managers",
            node: "logs-managers-0",
            podUid: "uid",
            cause: "asked",
            step: "Await",
            startedAt: minutesAgo(1),
          },
        },
      },
      limit: "NotIdle",
    },
    { name: "a node of any pool is down", state: { down: ["logs-managers-0"] }, limit: "NotIdle" },
    { name: "a place is not there yet", state: { slots: { data: 3 } }, limit: "NotIdle" },
    {
      name: "shards move",
      state: { engine: { health: known({ ...green, relocatingShards: 1 }) } },
      limit: "NotIdle",
    },
    {
      name: "shards recover",
      state: { engine: { health: known({ ...green, initializingShards: 1 }) } },
      limit: "NotIdle",
    },
    {
      name: "a copy is missing",
      state: { shards: shardOn("orders", ["logs-data-0", "?"]) },
      limit: "NotGreen",
    },
    {
      name: "no one knows the health",
      state: { engine: { health: { isKnown: false, why: "timeout" } } },
      limit: "NotGreen",
    },
    { name: "no one knows the copies", state: { copies: "unknown" }, limit: "IndexReplicasUnknown" },
    { name: "as many copies as nodes", state: { copies: 4 }, limit: "IndexReplicas" },
  ])("[search/SC-90] less load changes nothing while $name", ({ state, limit }) => {
    const decided = decide({ samples: calm, ...state });
    expect(rowIn(decided).target).toBe(4);
    expect(rowIn(decided).limitedBy).toContain(limit);
  });

  test("nodes of another pool that serve the same tier hold copies too", () => {
    const cluster = aSearchCluster({
      pools: [
        aPool({ name: "data", replicas: 4, roles: ["data"], autoscaling: aPolicy() }),
        aPool({ name: "more", replicas: 2, roles: ["cluster_manager", "data"] }),
        aPool({ name: "cold", replicas: 2, roles: ["data_cold"] }),
      ],
    });
    const autoscaling = {
      samples: new Map([["data", calm]]),
      mostCopies: 5,
      hasJustBegun: false,
      refusedVolumes: new Set<string>(),
    };
    const decided = decideLane(autoscalingLane, aRoll({ cluster, seen: { autoscaling } }), now);
    expect(rowIn(decided)).toMatchObject({
      target: 3,
      recommendation: 3,
      limitedBy: ["IndexReplicas", "MinReplicas"],
    });
  });

  test("a pool without data needs no copies", () => {
    const cluster = aSearchCluster({
      pools: [
        aPool({ replicas: 1 }),
        aPool({ name: "ingest", replicas: 4, roles: ["ingest"], autoscaling: aPolicy() }),
      ],
    });
    const autoscaling = {
      samples: new Map([["ingest", calm]]),
      mostCopies: undefined,
      hasJustBegun: false,
      refusedVolumes: new Set<string>(),
    };
    const decided = decideLane(autoscalingLane, aRoll({ cluster, seen: { autoscaling } }), now);
    expect(rowIn(decided)).toMatchObject({ target: 3 });
  });

  const full = known(
    [0, 1, 2, 3].map((at) => ({
      node: `logs-data-${String(at)}`,
      shards: 1,
      documents: 1,
      storeBytes: 200,
      diskTotalBytes: 1000,
      diskFreeBytes: 100,
      heapPercent: 1,
      cpuPercent: 1,
      searchQueue: 0,
      writeRejections: 0,
    })),
  );
  const lowered = { target: 3, recommendation: 2, lastScaleDownTime: minutesAgo(1) };

  test("a removal that the others have no room for is taken back, and is told", () => {
    const decided = decide({
      samples: calm,
      replicas: 3,
      slots: { data: 4 },
      row: lowered,
      engine: { nodeLoad: full },
    });
    expect(rowIn(decided)).toMatchObject({ target: 4, lastScaleDownTime: minutesAgo(1) });
    expect(rowIn(decided).limitedBy).toContain("ScaleDownRefused");
    expect(rowIn(decided).message).toContain("logs-data-3 is not removed: the disks of the other data nodes");
    expect(rowIn(decided).lastScaleUpTime).toBeUndefined();
    expect(notesIn(decided)[0]).toContain("Pool data stays at 4 nodes: logs-data-3 is not removed");
  });

  test("a removal that is possible continues", () => {
    const decided = decide({ samples: calm, replicas: 3, slots: { data: 4 }, row: lowered });
    expect(rowIn(decided)).toMatchObject({ target: 3, current: 4 });
    expect(rowIn(decided).message).toBeUndefined();
  });

  test("a drain that stalled is taken back too, and others of the cluster are none of its business", () => {
    const stalled = (node: string): State => ({
      samples: calm,
      replicas: 3,
      slots: { data: 4 },
      row: lowered,
      status: { stalledDrain: { node, attempts: 1, retryAt: minutesAgo(-5), message: "it keeps 1 copy" } },
    });
    expect(rowIn(decide(stalled("logs-data-3")))).toMatchObject({ target: 4, message: "it keeps 1 copy" });
    expect(rowIn(decide(stalled("logs-other-3")))).toMatchObject({ target: 3 });
  });

  test.each([
    { minutes: 9, target: 4, limit: "ScaleDownRefused" },
    { minutes: 11, target: 3, limit: "Step" },
  ])("$minutes minutes after a refusal the target is $target", ({ minutes, target, limit }) => {
    const row = { target: 4, recommendation: 2, message: "no room", lastScaleDownTime: minutesAgo(minutes) };
    const scaleDown = { ...aPolicy().scaleDown, cooldownMs: 0 };
    const decided = decide({ samples: calm, row, policy: { scaleDown } });
    expect(rowIn(decided)).toMatchObject({ target });
    expect(rowIn(decided).limitedBy).toContain(limit);
    expect(rowIn(decided).message).toBe(target === 4 ? "no room" : undefined);
  });

  test("a refused removal counts as within the limits of a lower maxReplicas", () => {
    const decided = decide({
      samples: calm,
      replicas: 3,
      slots: { data: 4 },
      row: lowered,
      policy: { maxReplicas: 3 },
      engine: { nodeLoad: full },
    });
    expect(rowIn(decided)).toMatchObject({ target: 3 });
  });
});

const green = {
  status: "green",
  nodes: 5,
  dataNodes: 4,
  activeShards: 0,
  relocatingShards: 0,
  initializingShards: 0,
  unassignedShards: 0,
  pendingTasks: 0,
} as const;

describe("Recommend", () => {
  test("[search/SC-92] says the number and never a target; the event comes with another number only", () => {
    const first = decide({ samples: busy, policy: { mode: "Recommend" } });
    expect(rowIn(first)).toMatchObject({ mode: "Recommend", recommendation: 6 });
    expect(rowIn(first)).not.toHaveProperty("target");
    expect(notesIn(first)).toEqual([]);
    const row = { mode: "Recommend", recommendation: 4 } as const;
    const second = decide({ samples: busy, policy: { mode: "Recommend" }, row });
    expect(notesIn(second)).toEqual(["Pool data should have 6 nodes; before it was 4."]);
    const third = decide({
      samples: busy,
      policy: { mode: "Recommend" },
      row: { ...row, recommendation: 6 },
    });
    expect(notesIn(third)).toEqual([]);
    expect([first, second, third].map(({ outcome }) => outcome.kind)).toEqual([
      "settled",
      "settled",
      "settled",
    ]);
  });
});

describe("a new operator", () => {
  const row = {
    target: 4,
    recommendation: 3,
    limitedBy: ["Cooldown"],
    metrics: [{ type: "Cpu", target: 60, recommendation: 3 }],
    lastScaleDownTime: minutesAgo(5),
  };

  test("repeats what was said before it until it has a sample, so that it writes nothing", () => {
    const decided = decide({ row, hasJustBegun: true });
    expect(rowIn(decided)).toEqual({ pool: "data", mode: "Auto", current: 4, ...row });
    expect(decided.outcome.kind).toBe("settled");
    expect(
      rowIn(decide({ row, hasJustBegun: true, policy: { maxReplicas: 4, minReplicas: 4 } })),
    ).toMatchObject({
      recommendation: 4,
    });
  });

  test("says that samples are missing once it has waited for one, or where nothing was said before", () => {
    expect(rowIn(decide({ row })).limitedBy).toEqual(["SamplesMissing"]);
    expect(rowIn(decide({ hasJustBegun: true })).limitedBy).toEqual(["SamplesMissing"]);
    expect(rowIn(decide({ row: { ...row, mode: "Recommend" }, hasJustBegun: true })).limitedBy).toEqual([
      "SamplesMissing",
    ]);
  });
});

describe("around it", () => {
  test("a cluster that has not formed is left alone", () => {
    expect(decide({ samples: busy, status: { clusterUuid: undefined } }).rule).toBe("notFormed");
  });

  test("without auto-scaling the status has no word of it; while the lane is not asked it stays", () => {
    const pools = [{ pool: "nodes", mode: "Auto" as const, target: 3 }];
    const seen = aRoll({ status: { autoscaling: { pools } } });
    const decisions = [decideLane(autoscalingLane, seen, now)];
    expect(clusterReport(seen, decisions, now).autoscaling).toBeUndefined();
    expect(clusterReport(seen, [], now).autoscaling).toEqual({ pools });
  });

  test("the removal of a node says that auto-scaling wants it", () => {
    const cluster = aSearchCluster({
      pools: [
        aPool({ name: "managers", replicas: 1, roles: ["cluster_manager"] }),
        aPool({ name: "data", replicas: 3, roles: ["data"], autoscaling: aPolicy() }),
      ],
    });
    const { intent } = decideLane(nodesLane, aRoll({ cluster, slots: { data: 4 } }), now);
    expect(intent?.operation).toMatchObject({ node: "logs-data-3", cause: "auto-scaling" });
  });
});
