import type { Distribution } from "../model/distribution-facts.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { elasticsearchPods } from "./elasticsearch/elasticsearch-pods.ts";
import { elasticsearchRest } from "./elasticsearch/elasticsearch-rest.ts";
import { opensearchPods } from "./opensearch/opensearch-pods.ts";
import { opensearchRest } from "./opensearch/opensearch-rest.ts";
import type { PodDialect } from "./pod-dialect.ts";
import type { MakeDialect } from "./rest-dialect.ts";

/** Parts of a distribution, besides what its declaration needs (`distributionFacts`) and its lanes (`lanes` of `rules.ts`). */
export interface DistributionOptions {
  readonly rest: MakeDialect;
  readonly pods: (version: string) => PodDialect;
}

/** Every distribution with all of its parts: a new one does not compile until each of them exists. */
export const distributions: Readonly<Record<Distribution, DistributionOptions>> = {
  opensearch: { rest: opensearchRest, pods: opensearchPods },
  elasticsearch: { rest: elasticsearchRest, pods: elasticsearchPods },
};

/** How pods of this cluster's distribution and version are declared. */
export function podDialect({
  distribution,
  version,
}: Pick<SearchCluster, "distribution" | "version">): PodDialect {
  return distributions[distribution].pods(version);
}
