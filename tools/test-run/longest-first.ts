import { basename } from "node:path";

import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files of the unit level that take more than 10 s. */
export const longUnitFiles: readonly string[] = [
  "operation-model",
  "webhook-strangers",
  "select-license-properties",
];

/**
 * Files of the integration level that take more than 30 s on two cores, measured, longest first. A long file that starts last keeps one
 * worker busy while the others have nothing to do. A file that is missing here only costs time.
 */
export const longFiles: readonly string[] = [
  "bundle-fault-walk",
  "opensearch-contract",
  "search-crash",
  "search-handover",
  "search-autoscaling",
  "getting-started",
  "search-engine-walk",
  "bystanders",
  "plan-interruptions",
  "search-fault-walk",
  "plan-crash",
  "search-cost",
  "search-settled",
  "search-scale-down",
  "search-security",
  "search-operation-faults",
  "search-certificates",
  "plan-server-restart",
  "license",
  "plan-bundles",
  "cluster-lifecycle",
  "plan-surroundings",
  "watch-faults",
  "injection-outage",
  "monitoring",
  "etcd-faults",
  "license-fault-walk",
  "plan-faults",
  "plan-fault-walk",
  "leader-faults",
  "leader-election",
  "certificates-rotation",
  "search-gate",
  "search-protection",
  "search-restart",
  "search-compatibility",
  "plan-jobs",
  "search-samples",
  "plan-storage-sizes",
  "search-overlaps",
  "controller-load",
  "search-deletion",
  "search-held",
  "search-claims",
  "search-references",
  "plan-deletion",
];

/** Files of the e2e level that take minutes. */
export const longE2eFiles: readonly string[] = [
  "search-cluster",
  "operator-in-cluster",
  "elasticsearch-cluster",
  "search-operations",
  "make-up-search",
];

const ranked = [...longUnitFiles, ...longFiles, ...longE2eFiles];

/** The test runner's own order, with the long files before all others: without results of an earlier run it goes by the size of files. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not the method of arrays
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one.moduleId) - rankOf(other.moduleId));
  }
}

function rankOf(path: string): number {
  const at = ranked.indexOf(basename(path, ".test.ts"));
  return at === -1 ? ranked.length : at;
}
