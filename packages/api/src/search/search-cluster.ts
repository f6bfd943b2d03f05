import {
  type CelRule,
  type CustomResource,
  defineCustomResource,
  type ObjectOf,
  type PrinterColumn,
} from "@quartermaster/runtime/schema";

import { elasticsearchClusterSpec, openSearchClusterSpec } from "./cluster-spec.ts";
import { clusterStatus } from "./cluster-status.ts";

const ready = ".status.conditions[?(@.type=='Ready')]";

/** Columns of `kubectl get`: those that users of other operators know, and ours. */
const columns: readonly PrinterColumn[] = [
  { name: "Health", type: "string", jsonPath: ".status.health" },
  { name: "Nodes", type: "integer", jsonPath: ".status.availableNodes" },
  { name: "Version", type: "string", jsonPath: ".status.version" },
  { name: "Phase", type: "string", jsonPath: ".status.phase" },
  { name: "Ready", type: "string", jsonPath: `${ready}.status` },
  { name: "Reason", type: "string", jsonPath: `${ready}.reason` },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  { name: "Uuid", type: "string", jsonPath: ".status.clusterUuid", priority: 1 },
  { name: "Message", type: "string", jsonPath: `${ready}.message`, priority: 1 },
];

/** Names of pods are labels, and the StatefulSet adds a hash of ten characters to them. */
const longestPoolName = 52;

/** Over the name of a cluster and its pools. */
const rules: readonly CelRule[] = [
  {
    rule: `self.spec.nodePools.all(pool, size(self.metadata.name) + 1 + size(pool.component) <= ${String(longestPoolName)})`,
    message: `the name of the cluster, a dash and the component of a pool have at most ${String(longestPoolName)} characters together`,
    fieldPath: ".spec.nodePools",
  },
];

/** Common to the kinds of search clusters. */
const clusterKind = { categories: ["quartermaster"], scope: "Namespaced", columns, rules } as const;

/** An OpenSearchCluster as the API server returns it. */
export type OpenSearchCluster = ObjectOf<typeof openSearchClusterSpec, typeof clusterStatus>;

const request = {
  version: "v1",
  kind: "OpenSearchCluster",
  plural: "opensearchclusters",
  ...clusterKind,
  spec: openSearchClusterSpec,
  status: clusterStatus,
} as const;

const example = {
  metadata: { name: "logs", namespace: "default" },
  spec: {
    general: { serviceName: "logs", version: "2.19.4" },
    nodePools: [{ component: "nodes", replicas: 3, diskSize: "30Gi", roles: ["cluster_manager", "data"] }],
  },
};

/** An OpenSearch cluster. */
export const openSearchCluster: CustomResource<OpenSearchCluster> = defineCustomResource({
  ...request,
  group: "opensearch.org",
  shortNames: ["os", "opensearch"],
  description:
    "OpenSearchCluster declares an OpenSearch cluster as pools of nodes. The operator secures it with TLS and passwords, keeps it as declared, and restarts or removes nodes only while the data stays available.",
  example,
});

/** The same kind in the group that it had first. */
export const opsterOpenSearchCluster: CustomResource<OpenSearchCluster> = defineCustomResource({
  ...request,
  group: "opensearch.opster.io",
  description:
    "OpenSearchCluster in its older group. Use opensearch.org for new objects. If both groups have an object of the same name, the one in opensearch.org is active.",
  example,
});

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
