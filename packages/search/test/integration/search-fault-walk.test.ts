import { failuresOf, walkFaults } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { searchVotesWorkload, searchWorkload } from "../support/search-workload.ts";

const minute = 60_000;
/** All plans of a campaign take hours, the sample a minute or two. */
const limitMs = process.env["QM_CAMPAIGN"] === "1" ? 240 * minute : 10 * minute;

test.for([searchWorkload, searchVotesWorkload])(
  "faults at writes of $name, a sample here and all in the campaign",
  { timeout: limitMs },
  async (workload) => {
    const { points, results } = await walkFaults(workload);
    expect(points.length).toBeGreaterThan(30);
    expect(failuresOf(results)).toEqual([]);
    expect(results.map(({ verdict }) => verdict)).toContain("passed");
  },
);
