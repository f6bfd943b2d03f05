import { basename } from "node:path";

import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files of the integration level that take more than 30 s on two cores, measured, longest first. A long file that starts last keeps one
 * worker busy while the others have nothing to do. A file that is missing here only costs time.
 */
export const longFiles: readonly string[] = [
  "search-autoscaling",
  "getting-started",
  "search-settled",
  "bystanders",
  "opensearch-contract",
  "search-handover",
  "search-scale-down",
  "search-crash",
  "search-cost",
  "plan-bundles",
  "injection-outage",
  "cluster-lifecycle",
  "leader-election",
  "certificates-rotation",
  "plan-faults",
  "plan-crash",
  "search-compatibility",
  "watch-faults",
  "search-restart",
  "monitoring",
  "license",
  "search-held",
  "plan-deletion",
  "search-certificates",
  "search-deletion",
  "search-gate",
  "plan-storage-sizes",
];

/** The test runner's own order, with the long files before all others: without results of an earlier run it goes by the size of files. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not the method of arrays
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one.moduleId) - rankOf(other.moduleId));
  }
}

function rankOf(path: string): number {
  const at = longFiles.indexOf(basename(path, ".test.ts"));
  return at === -1 ? longFiles.length : at;
}
