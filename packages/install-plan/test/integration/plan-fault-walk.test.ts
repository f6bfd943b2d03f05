import { failuresOf, walkFaults, withoutPreconditions } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { planWorkload } from "../support/plan-workload.ts";

test(
  "faults at writes of a plan's life, a sample here and all in the campaign",
  { timeout: 1_800_000 },
  async () => {
    const { points, results } = await walkFaults(planWorkload);
    expect(points.length).toBeGreaterThan(15);
    expect(failuresOf(results)).toEqual([]);
  },
);

test("a delete without its preconditions hits the object that another client created under the name", async () => {
  const results = await withoutPreconditions(planWorkload);
  expect(results.length).toBeGreaterThan(3);
  expect(results.filter(({ verdict }) => verdict !== "failed")).toEqual([]);
});
