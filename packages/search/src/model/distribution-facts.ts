import type { SearchKind } from "@quartermaster/api";

/** Names of all distributions. */
export const distributionNames = ["opensearch", "elasticsearch"] as const;

/** Distribution of a cluster. A new one does not compile until `distributionFacts`, `distributions` and the lanes of `rules.ts` have it. */
export type Distribution = (typeof distributionNames)[number];

/** In what distributions differ, as far as their declaration is concerned. */
export interface DistributionFacts {
  /** Kind of the object that declares a cluster. */
  readonly clusterKind: SearchKind;
  readonly repository: string;
  readonly image: string;
  /** Directory of the engine in its image. */
  readonly home: string;
  /** Image of Dashboards or Kibana. */
  readonly dashboards: string;
  readonly dashboardsRepository: string;
  readonly dashboardsHome: string;
  /** Its field in the spec. */
  readonly dashboardsField: "dashboards" | "kibana";
  /**
   * Whether it has the security plugin of OpenSearch: users and roles are in an index, the operator proves who it is by a client
   * certificate, and nodes read certificates again on request. Otherwise users come from files that nodes follow.
   */
  readonly hasSecurityPlugin: boolean;
  /** Whether clusters run under a license of a vendor. */
  readonly isLicensed: boolean;
}

/** Facts of every distribution. Its code is in `distributions/`. */
export const distributionFacts: Readonly<Record<Distribution, DistributionFacts>> = {
  opensearch: {
    clusterKind: "OpenSearchCluster",
    repository: "docker.io/opensearchproject",
    image: "opensearch",
    home: "/usr/share/opensearch",
    dashboards: "opensearch-dashboards",
    dashboardsRepository: "docker.io/opensearchproject",
    dashboardsHome: "/usr/share/opensearch-dashboards",
    dashboardsField: "dashboards",
    hasSecurityPlugin: true,
    isLicensed: false,
  },
  elasticsearch: {
    clusterKind: "ElasticsearchCluster",
    repository: "docker.elastic.co/elasticsearch",
    image: "elasticsearch",
    home: "/usr/share/elasticsearch",
    dashboards: "kibana",
    dashboardsRepository: "docker.elastic.co/kibana",
    dashboardsHome: "/usr/share/kibana",
    dashboardsField: "kibana",
    hasSecurityPlugin: false,
    isLicensed: true,
  },
};

/** The distribution whose clusters are declared by objects of a kind. */
export function distributionOf(kind: string): Distribution {
  const found = distributionNames.find((name) => distributionFacts[name].clusterKind === kind);
  if (found === undefined) throw new TypeError(`no distribution is declared by ${kind}`);
  return found;
}
