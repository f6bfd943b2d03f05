import { describe, expect, test } from "vitest";

import { autoscalingLane } from "../../../src/autoscaling/autoscaling-lane.ts";
import type { PoolRow } from "../../../src/autoscaling/pool-facts.ts";
import type { PoolSample } from "../../../src/autoscaling/pool-sample.ts";
import { volumeGrowth, type VolumesFacts } from "../../../src/autoscaling/volume-growth.ts";
import type { VolumeFacts } from "../../../src/formation/volume-facts.ts";
import { decideLane, type LaneDecision } from "../../../src/lane.ts";
import { readCluster } from "../../../src/model/read-cluster.ts";
import { readDeclaration } from "../../../src/offline/read-declaration.ts";
import { aPool, aSearchCluster } from "../../a-search-cluster.ts";
import { aPolicy, nowMs, samplesOf, steady } from "../../support/a-policy.ts";
import { aRoll } from "../../support/a-roll.ts";
import { aVolume } from "../../support/a-seen.ts";

const gibibyte = 1024 ** 3;
const storage = { maxBytes: 4 * gibibyte, growAtPercent: 80, stepPercent: 20 };
const full = steady({ Disk: 85 }, 3);
const now = new Date(nowMs);
const minutesAgo = (minutes: number): string => new Date(nowMs - minutes * 60_000).toISOString();

describe("how large volumes should be", () => {
  const cases: readonly {
    readonly name: string;
    readonly samples?: readonly PoolSample[];
    readonly facts?: Partial<VolumesFacts>;
    readonly maxBytes?: number;
    /** Mebibytes, and whether they come before nodes. */
    readonly want: readonly [number, boolean];
  }[] = [
    { name: "a step larger when disks are full", want: [1229, true] },
    { name: "as they are when disks are not", samples: steady({ Disk: 79.9 }, 3), want: [1024, true] },
    {
      name: "as they are when one sample of the window is not",
      samples: samplesOf([85, 85, 85, 70, 85, 85].map((Disk) => ({ Disk }))),
      want: [1024, true],
    },
    { name: "as they are while the window fills", samples: steady({ Disk: 99 }, 1), want: [1024, true] },
    { name: "as they are without samples", samples: [], want: [1024, true] },
    { name: "as they are when no one tells", samples: steady({ Cpu: 99 }, 3), want: [1024, true] },
    { name: "as they are while one still grows", facts: { isGrowing: true }, want: [1024, true] },
    { name: "as they are within the cooldown", facts: { lastGrowthMs: nowMs - 299_999 }, want: [1024, true] },
    { name: "larger again after it", facts: { lastGrowthMs: nowMs - 300_000 }, want: [1229, true] },
    { name: "no larger than the limit", maxBytes: 1.1 * gibibyte, want: [1126, true] },
    { name: "at the limit, nodes are next", maxBytes: gibibyte, want: [1024, false] },
    { name: "never smaller than they are", maxBytes: gibibyte / 2, want: [1024, false] },
    { name: "where it was refused, nodes are next", facts: { isRefused: true }, want: [1024, false] },
  ];
  test.each(cases)("$name", ({ samples = full, facts = {}, maxBytes = storage.maxBytes, want }) => {
    const known = {
      sizeBytes: gibibyte,
      isGrowing: false,
      isRefused: false,
      lastGrowthMs: undefined,
      ...facts,
    };
    const { sizeBytes, isFirst } = volumeGrowth(
      samples,
      { scaleUp: aPolicy().scaleUp, storage: { ...storage, maxBytes } },
      { facts: known, nowMs },
    );
    expect([sizeBytes / 1024 ** 2, isFirst]).toEqual(want);
  });
});

interface State {
  readonly samples?: readonly PoolSample[];
  readonly row?: Partial<PoolRow>;
  readonly volume?: Partial<VolumeFacts>;
  readonly refused?: boolean;
  readonly mode?: "Auto" | "Recommend";
}

function decide({ samples = full, row, volume = {}, refused = false, mode = "Auto" }: State): LaneDecision {
  const policy = aPolicy({ mode, storage, metrics: [{ type: "Disk", target: 60 }] });
  const cluster = aSearchCluster({
    pools: [
      aPool({ name: "managers", replicas: 1, roles: ["cluster_manager"] }),
      aPool({ name: "data", replicas: 2, roles: ["data"], autoscaling: policy }),
    ],
  });
  const seen = aRoll({
    cluster,
    status: row === undefined ? {} : { autoscaling: { pools: [{ pool: "data", mode, ...row }] } },
    seen: {
      autoscaling: {
        samples: new Map([["data", samples.map((sample) => ({ ...sample, nodes: 2 }))]]),
        mostCopies: 1,
        hasJustBegun: false,
        refusedVolumes: new Set(refused ? ["data"] : []),
      },
    },
  });
  const volumes = ["logs-managers-0", "logs-data-0", "logs-data-1"].map((node) =>
    aVolume(node, { engineUuid: "U", ...volume }),
  );
  return decideLane(autoscalingLane, { ...seen, volumes }, now);
}

function rowIn({ intent }: LaneDecision): Partial<PoolRow> {
  return intent?.autoscaling?.pools?.[0] ?? {};
}

function grownIn({ actions }: LaneDecision): readonly string[] {
  return actions.flatMap((action) => (action.kind === "growClaim" ? [`${action.name} ${action.size}`] : []));
}

describe("[search/SC-95] volumes before nodes", () => {
  test("full disks raise the size in the status first, with an event, and no claim and no node is touched yet", () => {
    const decided = decide({});
    expect(rowIn(decided)).toMatchObject({ volumeSize: "1229Mi", target: 2, limitedBy: ["VolumesFirst"] });
    expect(rowIn(decided).lastVolumeGrowthTime).toBeDefined();
    expect(grownIn(decided)).toEqual([]);
    expect(decided.actions).toMatchObject([{ kind: "record", event: { reason: "VolumeExpanded" } }]);
    expect(decided.outcome).toMatchObject({ kind: "settled", recheckAfterMs: 20 });
  });

  const row = { volumeSize: "1229Mi", lastVolumeGrowthTime: minutesAgo(1) };

  test("the next look brings the claims of the pool there, and those of no other", () => {
    const decided = decide({ row });
    expect(grownIn(decided)).toEqual(["data-logs-data-0 1229Mi", "data-logs-data-1 1229Mi"]);
    expect(rowIn(decided)).toMatchObject(row);
  });

  test("a claim that is as large, or larger, is left alone", () => {
    expect(grownIn(decide({ row, volume: { sizeBytes: 2 * gibibyte } }))).toEqual([]);
    expect(grownIn(decide({ row, volume: { sizeBytes: undefined } }))).toEqual([]);
    expect(grownIn(decide({ row, volume: { capacityBytes: undefined } }))).toEqual([]);
  });

  test("while a volume has not got what its claim requests, nothing more is queried", () => {
    const grown = { sizeBytes: 1229 * 1024 ** 2 };
    const old = { ...row, lastVolumeGrowthTime: minutesAgo(10) };
    expect(rowIn(decide({ row: old, volume: { ...grown, capacityBytes: gibibyte } })).volumeSize).toBe(
      "1229Mi",
    );
    expect(rowIn(decide({ row: old, volume: { ...grown, capacityBytes: 2 * gibibyte } })).volumeSize).toBe(
      "1475Mi",
    );
  });

  test("a size that another client wrote into the status beyond the limit is not believed", () => {
    expect(grownIn(decide({ row: { volumeSize: "900Gi" } }))).toEqual([
      "data-logs-data-0 4096Mi",
      "data-logs-data-1 4096Mi",
    ]);
    expect(grownIn(decide({ row: { volumeSize: "a lot" } }))).toEqual([]);
  });

  test("refused by the API server: the size is taken back, and nodes are added", () => {
    const decided = decide({ row, refused: true });
    expect(grownIn(decided)).toEqual([]);
    expect(rowIn(decided)).toMatchObject({ target: 3, limitedBy: ["ExpansionUnsupported"] });
    expect(rowIn(decided).volumeSize).toBeUndefined();
  });

  test("at the limit nodes are added", () => {
    expect(rowIn(decide({ volume: { sizeBytes: 4 * gibibyte } }))).toMatchObject({ target: 3 });
  });

  test("disks with room change nothing, and nothing is written of sizes", () => {
    const decided = decide({ samples: steady({ Disk: 60 }, 3) });
    expect(rowIn(decided).volumeSize).toBeUndefined();
    expect(decided.actions).toEqual([]);
  });

  test("Recommend grows nothing", () => {
    const decided = decide({ mode: "Recommend", row });
    expect(grownIn(decided)).toEqual([]);
    expect(rowIn(decided).recommendation).toBe(3);
  });
});

describe("what cannot be carried out", () => {
  const issuesOf = (pool: object, maxSize: string): readonly string[] => {
    const read = readDeclaration({
      apiVersion: "opensearch.org/v1",
      kind: "OpenSearchCluster",
      metadata: { name: "logs", namespace: "team" },
      spec: {
        general: { serviceName: "logs", version: "2.19.4" },
        nodePools: [
          { component: "managers", replicas: 1, roles: ["cluster_manager"] },
          {
            component: "data",
            replicas: 1,
            roles: ["data"],
            autoscaling: {
              mode: "Auto",
              minReplicas: 1,
              maxReplicas: 2,
              metrics: [{ type: "Disk", target: 70 }],
              storage: { maxSize },
            },
            ...pool,
          },
        ],
      },
    });
    if (read.kind !== "read") throw new Error(JSON.stringify(read));
    return readCluster(read.object).issues.map(({ path, message }) => `${path} ${message}`);
  };

  test("pools without volumes, and sizes that are none", () => {
    const path = "spec.nodePools[1].autoscaling.storage";
    expect(issuesOf({ persistence: { emptyDir: {} } }, "2Gi")).toEqual([
      `${path} needs volumes that can grow: remove it, or persistence.emptyDir and hostPath`,
    ]);
    expect(issuesOf({}, "2Pim")).toEqual([`${path}.maxSize is not a size: write e.g. 200Gi`]);
    expect(issuesOf({}, "2Gi")).toEqual([]);
  });
});
