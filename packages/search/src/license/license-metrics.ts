import type { DomainSeries } from "@quartermaster/runtime";

import type { LicenseResult } from "./license-seen.ts";

/** Registers the series of licences. Returns the hook for `searchController`. */
export function licenseMetrics(series: DomainSeries): (result: LicenseResult["outcome"]) => void {
  const count = series.counter({
    name: "elastic_license_apply_total",
    help: "Attempts to apply a licence, or to start a trial or basic one, by result",
    labels: { result: ["applied", "rejected", "failed"] },
  });
  return (result) => {
    count({ result });
  };
}
