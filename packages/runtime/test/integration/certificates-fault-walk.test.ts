import { failuresOf, needlessOf, walkFaults, walkPreconditions } from "@quartermaster/testkit";
import { expect, test } from "vitest";

import { certificatesWorkload } from "../support/certificates-workload.ts";

const minute = 60_000;
const limitMs = process.env["QM_CAMPAIGN"] === "1" ? 60 * minute : 10 * minute;

test(
  "faults at writes of issued certificates, a sample here and all in the campaign",
  { timeout: limitMs },
  async () => {
    const { points, results } = await walkFaults(certificatesWorkload);
    expect(points.length).toBeGreaterThan(2);
    expect(failuresOf(results)).toEqual([]);
  },
);

test(
  "a write of issued certificates without its preconditions does harm to what another client did before it",
  { timeout: limitMs },
  async () => {
    const results = await walkPreconditions(certificatesWorkload);
    expect(results.length).toBeGreaterThan(0);
    expect(needlessOf(results, certificatesWorkload)).toEqual([]);
  },
);
