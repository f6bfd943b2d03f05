import type { JsonObject } from "@quartermaster/runtime";
import { expect, test } from "vitest";

import { memoryBytes } from "../../src/report/cluster-report.ts";
import { aPool } from "../a-search-cluster.ts";

const limits = (memory: unknown): JsonObject => ({ limits: { memory } });

test.for<[string, readonly (readonly [number, JsonObject | undefined])[], number | undefined]>([
  ["one pool", [[3, limits("2Gi")]], 3 * 2 * 2 ** 30],
  [
    "two pools",
    [
      [1, limits("512Mi")],
      [2, limits("1500M")],
    ],
    512 * 2 ** 20 + 3e9,
  ],
  ["a plain number", [[2, limits("1000")]], 2000],
  ["an exponent", [[1, limits("2e9")]], 2e9],
  ["a fraction", [[1, limits("0.5Gi")]], 2 ** 29],
  [
    "one pool without limits",
    [
      [1, limits("1Gi")],
      [1, undefined],
    ],
    undefined,
  ],
  ["what is no quantity", [[1, limits("much")]], undefined],
  ["more than a number holds", [[1, limits("9000Ei")]], undefined],
])("%s", ([, pools, bytes]) => {
  expect(memoryBytes({ pools: pools.map(([replicas, resources]) => aPool({ replicas, resources })) })).toBe(
    bytes,
  );
});
