import { describe, expect, test } from "vitest";

import type { PoolSample } from "../../../src/autoscaling/pool-sample.ts";
import { type PoolFacts, recommend } from "../../../src/autoscaling/recommend.ts";
import type { AutoscalingPolicy } from "../../../src/model/autoscaling-policy.ts";
import { aPolicy, nowMs, poolFacts, samplesOf, steady } from "../../support/a-policy.ts";

interface Case {
  readonly name: string;
  readonly samples: readonly PoolSample[];
  readonly policy?: Partial<AutoscalingPolicy>;
  readonly facts?: Partial<PoolFacts>;
  /** Nodes now, nodes in the end, what holds it back. */
  readonly want: readonly [number, number, ...string[]];
}

const cpu = (target: number): AutoscalingPolicy["metrics"] => [{ type: "Cpu", target }];
const rate = { type: "Prometheus", query: "avg(rate)", target: 100 } as const;
const calm = steady({ Cpu: 10 }, 40);
const quiet = steady({ Cpu: 10, "Prometheus:avg(rate)": 10 }, 40);
const wide: AutoscalingPolicy["scaleUp"] = { stabilizationMs: 120_000, maxStep: 10, cooldownMs: 300_000 };

function responseOf({ samples, policy, facts }: Case): readonly (number | string)[] {
  const { target, recommendation, limitedBy } = recommend(samples, aPolicy(policy), {
    facts: poolFacts(facts),
    nowMs,
  });
  return [target, recommendation, ...limitedBy];
}

describe("more nodes", () => {
  const cases: readonly Case[] = [
    {
      name: "[search/SC-89] 90 % CPU against 60 on four nodes for the whole window: six",
      samples: steady({ Cpu: 90 }, 2),
      want: [6, 6],
    },
    {
      name: "[search/SC-89] the same for shorter than the window: four",
      samples: [
        ...steady({ Cpu: 40 }, 5).slice(0, -3),
        ...samplesOf([{ Cpu: 90 }, { Cpu: 90 }, { Cpu: 90 }]),
      ],
      want: [4, 4],
    },
    {
      name: "one modest sample in the window decides",
      samples: samplesOf([{ Cpu: 99 }, { Cpu: 75 }, { Cpu: 99 }, { Cpu: 99 }, { Cpu: 99 }]),
      want: [5, 5],
    },
    { name: "within a tenth of the target nothing changes", samples: steady({ Cpu: 66 }, 2), want: [4, 4] },
    { name: "just above a tenth it does", samples: steady({ Cpu: 66.1 }, 2), want: [5, 5] },
    {
      name: "two at a time",
      samples: steady({ Cpu: 60 }, 2),
      policy: { metrics: cpu(30) },
      want: [6, 8, "Step"],
    },
    {
      name: "never above maxReplicas",
      samples: steady({ Cpu: 90 }, 2),
      policy: { maxReplicas: 5 },
      want: [5, 5, "MaxReplicas"],
    },
    {
      name: "at maxReplicas it stays, and says so",
      samples: steady({ Cpu: 90 }, 2),
      policy: { maxReplicas: 4 },
      want: [4, 4, "MaxReplicas"],
    },
    {
      name: "not again within the cooldown",
      samples: steady({ Cpu: 90 }, 2),
      facts: { lastScaleUpMs: nowMs - 299_999 },
      want: [4, 6, "Cooldown"],
    },
    {
      name: "again after the cooldown",
      samples: steady({ Cpu: 90 }, 2),
      facts: { lastScaleUpMs: nowMs - 300_000 },
      want: [6, 6],
    },
    {
      name: "a removal a short while ago does not keep nodes from coming",
      samples: steady({ Cpu: 90 }, 2),
      facts: { lastScaleDownMs: nowMs - 1_000 },
      want: [6, 6],
    },
    {
      name: "a window that is not full yet proves nothing",
      samples: steady({ Cpu: 90 }, 1),
      want: [4, 6, "WindowFilling"],
    },
    {
      name: "health, moving shards and unknown replicas do not keep nodes from coming",
      samples: steady({ Cpu: 90 }, 2),
      facts: { isGreen: false, isIdle: false, indexFloor: undefined, isRefused: true },
      want: [6, 6],
    },
    {
      name: "a node that is silent counts as idle",
      samples: steady({ Cpu: 90 }, 2, { missing: 1 }),
      want: [5, 5],
    },
    {
      name: "disks: as many nodes as the bytes need",
      samples: steady({ Disk: 85 }, 2),
      policy: { metrics: [{ type: "Disk", target: 50 }], scaleUp: wide },
      want: [7, 7],
    },
    {
      name: "shards: as many nodes as they need",
      samples: steady({ ShardsPerNode: 150 }, 2),
      policy: { metrics: [{ type: "ShardsPerNode", target: 100 }] },
      want: [6, 6],
    },
    {
      name: "the metric that requests most wins, also if it is another one in each sample",
      samples: samplesOf(
        [1, 2, 3, 4, 5].map((at) => (at % 2 === 0 ? { Cpu: 90, Heap: 60 } : { Cpu: 50, Heap: 90 })),
      ),
      policy: { metrics: [...cpu(60), { type: "Heap", target: 60 }] },
      want: [6, 6],
    },
    {
      name: "[search/SC-95] full disks request larger volumes first, as long as those can grow",
      samples: steady({ Disk: 90 }, 2),
      policy: { metrics: [{ type: "Disk", target: 60 }] },
      facts: { growsVolumes: true },
      want: [4, 4, "VolumesFirst"],
    },
    {
      name: "other metrics request nodes meanwhile",
      samples: steady({ Cpu: 75, Disk: 90 }, 2),
      policy: { metrics: [...cpu(60), { type: "Disk", target: 60 }] },
      facts: { growsVolumes: true },
      want: [5, 5, "VolumesFirst"],
    },
    {
      name: "volumes that can grow keep no other metric from asking",
      samples: steady({ Cpu: 90, Disk: 60 }, 2),
      policy: { metrics: [...cpu(60), { type: "Disk", target: 60 }] },
      facts: { growsVolumes: true },
      want: [6, 6],
    },
    {
      name: "a metric that no one tells is ignored",
      samples: steady({ Cpu: 90 }, 2),
      policy: { metrics: [...cpu(60), { type: "WriteRejections", target: 1 }] },
      want: [6, 6],
    },
    {
      name: "[search/SC-90] a Prometheus that is silent is ignored",
      samples: steady({ Cpu: 90 }, 2),
      policy: { metrics: [...cpu(60), rate] },
      want: [6, 6],
    },
    {
      name: "a query requests nodes as other metrics do",
      samples: steady({ "Prometheus:avg(rate)": 150 }, 2),
      policy: { metrics: [rate] },
      want: [6, 6],
    },
    {
      name: "queries are told apart",
      samples: steady({ "Prometheus:avg(rate)": 100, "Prometheus:avg(lag)": 15 }, 2),
      policy: { metrics: [rate, { type: "Prometheus", query: "avg(lag)", target: 10 }] },
      want: [6, 6],
    },
    {
      name: "a response beyond all measure requests maxReplicas and no more",
      samples: steady({ "Prometheus:avg(rate)": Number.MAX_SAFE_INTEGER }, 2),
      policy: { metrics: [rate], scaleUp: wide },
      want: [10, 10, "MaxReplicas"],
    },
  ];
  test.each(cases)("$name", (given) => {
    expect(responseOf(given)).toEqual(given.want);
  });
});

describe("fewer nodes", () => {
  const cases: readonly Case[] = [
    { name: "one at a time, once the window is full", samples: calm, want: [3, 2, "MinReplicas", "Step"] },
    {
      name: "[search/SC-90] a window that is not full blocks it",
      samples: steady({ Cpu: 10 }, 29),
      want: [4, 2, "MinReplicas", "WindowFilling"],
    },
    {
      name: "[search/SC-90] a hole in the window blocks it",
      samples: calm.filter((_, at) => at < 40 || at > 43),
      want: [4, 2, "MinReplicas", "SamplesMissing"],
    },
    {
      name: "[search/SC-90] samples that stopped block it",
      samples: calm.slice(0, -4),
      want: [4, 2, "MinReplicas", "SamplesMissing"],
    },
    {
      name: "[search/SC-90] a silent node counts as full",
      samples: steady({ Cpu: 45 }, 40, { missing: 2 }),
      want: [4, 4],
    },
    {
      name: "a silent node among many that are idle still allows one to go",
      samples: steady({ Cpu: 10 }, 40, { missing: 1 }),
      want: [3, 3],
    },
    {
      name: "[search/SC-90] a metric that no one tells blocks it",
      samples: calm,
      policy: { metrics: [...cpu(60), { type: "SearchQueue", target: 10 }] },
      want: [4, 4],
    },
    {
      name: "[search/SC-90] a Prometheus that is silent blocks it",
      samples: calm,
      policy: { metrics: [...cpu(60), rate] },
      want: [4, 4, "PrometheusSilent"],
    },
    {
      name: "[search/SC-90] one silent sample in the window blocks it, also one of fewer nodes",
      samples: [
        ...quiet.slice(0, 40),
        ...samplesOf([{ Cpu: 10 }], { atMs: quiet[40]?.atMs ?? 0, nodes: 2 }),
        ...quiet.slice(41),
      ],
      policy: { metrics: [...cpu(60), rate] },
      want: [4, 4, "PrometheusSilent"],
    },
    {
      name: "[search/SC-90] so does one that is the only metric",
      samples: calm,
      policy: { metrics: [rate] },
      want: [4, 4, "PrometheusSilent"],
    },
    {
      name: "a silent Prometheus is not blamed where another metric needs the nodes",
      samples: steady({ Cpu: 60 }, 40),
      policy: { metrics: [...cpu(60), rate] },
      want: [4, 4],
    },
    {
      name: "nor for a moment in which it was silent, where its own answers need the nodes",
      samples: [
        ...samplesOf([{}], { atMs: nowMs - 1_810_000 }),
        ...steady({ "Prometheus:avg(rate)": 100 }, 29),
      ],
      policy: { metrics: [rate] },
      want: [4, 4],
    },
    {
      name: "a Prometheus that answered all through the window allows it",
      samples: quiet,
      policy: { metrics: [...cpu(60), rate] },
      want: [3, 2, "MinReplicas", "Step"],
    },
    {
      name: "[search/SC-90] yellow blocks it",
      samples: calm,
      facts: { isGreen: false },
      want: [4, 2, "MinReplicas", "NotGreen"],
    },
    {
      name: "[search/SC-90] an open operation blocks it",
      samples: calm,
      facts: { isIdle: false },
      want: [4, 2, "MinReplicas", "NotIdle"],
    },
    {
      name: "[search/SC-90] unknown copies block it",
      samples: calm,
      facts: { indexFloor: undefined },
      want: [4, 2, "IndexReplicasUnknown", "MinReplicas"],
    },
    {
      name: "never below what the copies of an index need",
      samples: calm,
      facts: { indexFloor: 3 },
      want: [3, 3, "IndexReplicas", "MinReplicas"],
    },
    {
      name: "at that floor it stays, whatever else holds it back",
      samples: calm,
      facts: { indexFloor: 4, isGreen: false },
      want: [4, 4, "IndexReplicas", "MinReplicas"],
    },
    {
      name: "more copies than nodes add none",
      samples: calm,
      facts: { indexFloor: 9 },
      want: [4, 4, "IndexReplicas", "MinReplicas"],
    },
    {
      name: "one greedy sample in the window decides",
      samples: [
        ...calm.slice(0, 30),
        ...samplesOf([{ Cpu: 55 }], { atMs: calm[30]?.atMs ?? 0 }),
        ...calm.slice(31),
      ],
      want: [4, 4],
    },
    {
      name: "what came before the window does not count",
      samples: [...samplesOf([{ Cpu: 99 }], { atMs: nowMs - 2_400_000 }), ...calm.slice(1)],
      want: [3, 2, "MinReplicas", "Step"],
    },
    {
      name: "not again within the cooldown",
      samples: calm,
      facts: { lastScaleDownMs: nowMs - 3_599_999 },
      want: [4, 2, "Cooldown", "MinReplicas"],
    },
    {
      name: "nodes that came within the cooldown stay",
      samples: calm,
      facts: { lastScaleUpMs: nowMs - 3_599_999 },
      want: [4, 2, "Cooldown", "MinReplicas"],
    },
    {
      name: "a clock that was set back counts as the cooldown",
      samples: calm,
      facts: { lastScaleDownMs: nowMs + 60_000 },
      want: [4, 2, "Cooldown", "MinReplicas"],
    },
    {
      name: "a refused removal is not tried again immediately",
      samples: calm,
      facts: { isRefused: true },
      want: [4, 2, "MinReplicas", "ScaleDownRefused"],
    },
    {
      name: "at minReplicas it stays",
      samples: steady({ Cpu: 10 }, 40, { nodes: 2 }),
      facts: { replicas: 2 },
      want: [2, 2, "MinReplicas"],
    },
    {
      name: "samples of the future do not count",
      samples: [...calm, ...samplesOf([{ Cpu: 99 }], { atMs: nowMs + 1 })],
      want: [3, 2, "MinReplicas", "Step"],
    },
  ];
  test.each(cases)("$name", (given) => {
    expect(responseOf(given)).toEqual(given.want);
  });
});

test("volumes that can grow keep full disks from losing a node", () => {
  const samples = steady({ Cpu: 10, Disk: 60 }, 40);
  const metrics: AutoscalingPolicy["metrics"] = [...cpu(60), { type: "Disk", target: 60 }];
  const given = {
    name: "",
    samples,
    policy: { metrics },
    facts: { growsVolumes: true },
    want: [0, 0],
  } as const;
  expect(responseOf(given)).toEqual([4, 4]);
});

describe("no samples", () => {
  test("[search/SC-90] nothing changes, and it is told", () => {
    expect(responseOf({ name: "", samples: [], want: [0, 0] })).toEqual([4, 4, "SamplesMissing"]);
  });

  test("a number outside of the limits comes back within them", () => {
    expect(responseOf({ name: "", samples: [], facts: { replicas: 40 }, want: [0, 0] })).toEqual([
      10,
      10,
      "SamplesMissing",
    ]);
  });
});

test("each metric says what it alone would request", () => {
  const { metrics } = recommend(
    steady({ Cpu: 90, Heap: 75, Disk: 60 }, 2),
    aPolicy({
      metrics: [
        { type: "Cpu", target: 60 },
        { type: "Heap", target: 60 },
        { type: "Disk", target: 60 },
      ],
    }),
    { facts: poolFacts(), nowMs },
  );
  expect(metrics).toEqual([
    { type: "Cpu", target: 60, recommendation: 6 },
    { type: "Heap", target: 60, recommendation: 5 },
    { type: "Disk", target: 60, recommendation: 4 },
  ]);
});

test("a query is told by its type and target alone, and never as more nodes than a number of the status can be", () => {
  const { metrics } = recommend(
    steady({ "Prometheus:avg(rate)": Number.MAX_SAFE_INTEGER }, 2),
    aPolicy({ metrics: [rate] }),
    { facts: poolFacts(), nowMs },
  );
  expect(metrics).toEqual([{ type: "Prometheus", target: 100, recommendation: 1_000_000 }]);
});
