import { type CustomResource, defineCustomResource, type ObjectOf } from "@quartermaster/runtime/schema";

import { clusterKind } from "./cluster-kind.ts";
import { openSearchClusterSpec } from "./cluster-spec.ts";
import { clusterStatus } from "./cluster-status.ts";

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
