import { failuresOf, walkFaults } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { licensingWorkload } from "../support/licensing-workload.ts";

test(
  "faults at writes of the licensing controllers, a sample here and all in the campaign",
  { timeout: 1_800_000 },
  async () => {
    const { points, results } = await walkFaults(licensingWorkload);
    expect(points.length).toBeGreaterThan(12);
    expect(failuresOf(results)).toEqual([]);
  },
);
