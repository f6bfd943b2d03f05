import { describe, expect, test } from "vitest";

import { decideLane } from "../../src/lane.ts";
import { NO_LICENSE } from "../../src/license/observe-license.ts";
import { poolsLane } from "../../src/pools/pools-lane.ts";
import type { Seen } from "../../src/seen.ts";
import { aPool, aSearchCluster } from "../a-search-cluster.ts";
import { aSeen } from "../support/a-seen.ts";

const now = new Date("2026-11-17T10:00:00Z");

/** Pools by name: nodes that are declared, and places that there are. */
function given(pools: Readonly<Record<string, readonly [number, number]>>, grantedNodes?: number): Seen {
  const entries = Object.entries(pools);
  return aSeen({
    cluster: aSearchCluster({
      pools: entries.flatMap(([name, [replicas]]) => (replicas === 0 ? [] : [aPool({ name, replicas })])),
    }),
    status: { clusterUuid: "U" },
    bootstrapList: "empty",
    statefulSets: new Map(
      entries.flatMap(([name, [, slots]]) =>
        slots === 0 ? [] : [[name, { metadata: { name, uid: name }, spec: { replicas: slots } }] as const],
      ),
    ) as unknown as Seen["statefulSets"],
    license: { ...NO_LICENSE, grantedNodes },
  });
}

function decided(seen: Seen): readonly string[] {
  const { actions, outcome } = decideLane(poolsLane, seen, now);
  const sets = actions.flatMap((action) =>
    action.kind === "apply"
      ? [action.object as { metadata: { name: string }; spec?: { replicas?: number } }]
      : [],
  );
  return [
    outcome.kind === "settled" ? "settled" : outcome.why.reason,
    ...sets.map(({ metadata, spec }) => `${metadata.name} ${String(spec?.replicas)}`),
  ];
}

describe("[licensing/C11] growth under an enforced license", () => {
  test.for<[string, Seen, readonly string[]]>([
    ["nothing is enforced", given({ a: [5, 3] }), ["MemberMissing", "logs-a 5"]],
    ["it has room", given({ a: [5, 3] }, 5), ["MemberMissing", "logs-a 5"]],
    ["it has none: the size stays", given({ a: [5, 3] }, 4), ["CapacityExceeded", "logs-a 3"]],
    ["a new pool is not made", given({ a: [3, 3], b: [1, 0] }, 3), ["CapacityExceeded", "logs-a 3"]],
    [
      "a pool that takes the place of another asks for no more",
      given({ a: [0, 3], b: [3, 0] }, 3),
      ["MemberMissing", "logs-b 3"],
    ],
    ["what is there is not taken away", given({ a: [3, 3] }, 2), ["settled", "logs-a 3"]],
    ["fewer nodes are always welcome", given({ a: [2, 3] }, 1), ["settled", "logs-a 3"]],
  ])("%s", ([, seen, want]) => {
    expect(decided(seen)).toEqual(want);
  });

  test("the message names both numbers", () => {
    expect(decideLane(poolsLane, given({ a: [5, 3] }, 4), now).outcome).toMatchObject({
      kind: "held",
      why: { message: expect.stringContaining("5 are declared, and the license has room for 4") as string },
    });
  });
});
