import { settingIssues } from "./cluster-settings/cluster-settings-lane.ts";
import { windowIssues } from "./maintenance/is-inside-window.ts";
import type { SearchCluster, SpecIssue } from "./model/search-cluster.ts";
import { repositoryIssues, type RepositoryPolicy } from "./repositories/repository-issues.ts";
import { workloadIssues, type WorkloadPolicy } from "./workload/workload-issues.ts";

export interface OperatorPolicy extends WorkloadPolicy, RepositoryPolicy {
  /** Where the operator runs (default: outside of the cluster). */
  readonly operatorNamespace?: string | undefined;
  /** Domain of Services (default: cluster.local). */
  readonly clusterDomain?: string | undefined;
}

/** Everything in a spec that can be read and must not, or cannot, be carried out here. */
export function specIssues(cluster: SearchCluster, policy: OperatorPolicy): readonly SpecIssue[] {
  return [
    ...workloadIssues(cluster, policy),
    ...repositoryIssues(cluster, policy),
    ...settingIssues(cluster),
    ...windowIssues(cluster),
  ];
}
