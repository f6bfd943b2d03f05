import { type CustomResource, defineCustomResource, type ObjectOf } from "@quartermaster/runtime/schema";

import { clusterKind } from "./cluster-kind.ts";
import { elasticsearchClusterSpec } from "./cluster-spec.ts";
import { clusterStatus } from "./cluster-status.ts";

/** An ElasticsearchCluster as the API server returns it. */
export type ElasticsearchCluster = ObjectOf<typeof elasticsearchClusterSpec, typeof clusterStatus>;

/** An Elasticsearch cluster. */
export const elasticsearchCluster: CustomResource<ElasticsearchCluster> = defineCustomResource({
  group: "elasticsearch.k8s.elastic.co",
  version: "v1alpha1",
  kind: "ElasticsearchCluster",
  plural: "elasticsearchclusters",
  shortNames: ["esc"],
  ...clusterKind,
  description:
    "ElasticsearchCluster declares an Elasticsearch cluster. The operator runs it by the same rules as an OpenSearchCluster. It gets licenses from ClusterLicense, EnterpriseLicense and LicenseAssociation.",
  spec: elasticsearchClusterSpec,
  status: clusterStatus,
  example: {
    metadata: { name: "logs", namespace: "default" },
    spec: {
      general: { serviceName: "logs", version: "7.17.28" },
      nodePools: [{ component: "nodes", replicas: 1, diskSize: "30Gi", roles: ["cluster_manager", "data"] }],
    },
  },
});
