import { failuresOf, needlessOf, walkFaults, walkPreconditions } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { planWorkload } from "../support/plan-workload.ts";

const minute = 60_000;
/** All plans of a campaign take hours, the sample a minute or two. */
const limitMs = process.env["QM_CAMPAIGN"] === "1" ? 240 * minute : 10 * minute;

test(
  "faults at writes of a plan's life, a sample here and all in the campaign",
  { timeout: limitMs },
  async () => {
    const { points, results } = await walkFaults(planWorkload);
    expect(points.length).toBeGreaterThan(15);
    expect(failuresOf(results)).toEqual([]);
  },
);

test(
  "a write of a plan without its preconditions does harm to what another client did before it",
  { timeout: limitMs },
  async () => {
    const results = await walkPreconditions(planWorkload);
    expect(results.length).toBeGreaterThan(6);
    expect(needlessOf(results, planWorkload)).toEqual([]);
  },
);
