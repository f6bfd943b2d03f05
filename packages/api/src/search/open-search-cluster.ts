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
    "OpenSearchCluster is an OpenSearch cluster: pools of nodes, secured by TLS and passwords from the start, kept as declared, never restarted or shrunk without regard to its data.",
  example,
});

/** The same kind in the group that it had first. */
export const opsterOpenSearchCluster: CustomResource<OpenSearchCluster> = defineCustomResource({
  ...request,
  group: "opensearch.opster.io",
  description:
    "OpenSearchCluster in the group that it had first; opensearch.org is the one for new objects. Objects are served as they are. Of two with the same name, that of opensearch.org acts.",
  example,
});
