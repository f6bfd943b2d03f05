import { createMetrics, type System } from "@quartermaster/runtime";

import { leaseName } from "./election.ts";
import type { Settings } from "./settings.ts";

/** The runtime's series for our controllers; docs/reference/metrics.md lists them. */
export function operatorMetrics(
  { concurrency, leaseNamespace }: Settings,
  system: System,
): ReturnType<typeof createMetrics> {
  return createMetrics({
    system,
    controllers: ["installplans", "resourcemanifests"].map((name) => ({ name, concurrency })),
    leases: leaseNamespace === undefined ? [] : [leaseName],
  });
}
