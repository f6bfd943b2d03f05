import { failuresOf, needlessOf, walkFaults, walkPreconditions } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { licensingWorkload } from "../support/licensing-workload.ts";

const minute = 60_000;
/** All plans of a campaign take hours, the sample a minute or two. */
const limitMs = process.env["QM_CAMPAIGN"] === "1" ? 240 * minute : 10 * minute;

test(
  "faults at writes of the licensing controllers, a sample here and all in the campaign",
  { timeout: limitMs },
  async () => {
    const { points, results } = await walkFaults(licensingWorkload);
    expect(points.length).toBeGreaterThan(12);
    expect(failuresOf(results)).toEqual([]);
  },
);

test(
  "a write of the licensing controllers without its preconditions does harm to what another client did before it",
  { timeout: limitMs },
  async () => {
    const results = await walkPreconditions(licensingWorkload);
    expect(results.length).toBeGreaterThan(5);
    expect(needlessOf(results, licensingWorkload)).toEqual([]);
  },
);
