import { failuresOf, needlessOf, walkFaults, walkPreconditions } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { bundleWorkload, clusterBundleWorkload } from "../support/bundle-workloads.ts";

const minute = 60_000;
/** All plans of a campaign take hours, the sample a minute or two. */
const limitMs = process.env["QM_CAMPAIGN"] === "1" ? 240 * minute : 10 * minute;

test.each([
  { workload: bundleWorkload, points: 8 },
  { workload: clusterBundleWorkload, points: 18 },
])(
  "faults at writes of the life of a $workload.name, a sample here and all in the campaign",
  { timeout: limitMs },
  async ({ workload, points: least }) => {
    const { points, results } = await walkFaults(workload);
    expect(points.length).toBeGreaterThan(least);
    expect(failuresOf(results)).toEqual([]);
  },
);

test.each([
  { workload: bundleWorkload, least: 4 },
  { workload: clusterBundleWorkload, least: 8 },
])(
  "a write of a $workload.name without its preconditions does harm to what another client did before it",
  { timeout: limitMs },
  async ({ workload, least }) => {
    const results = await walkPreconditions(workload);
    expect(results.length).toBeGreaterThan(least);
    expect(needlessOf(results, workload)).toEqual([]);
  },
);
