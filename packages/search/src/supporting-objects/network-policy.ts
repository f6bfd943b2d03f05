import type { NetworkPolicy } from "@quartermaster/runtime/kinds";

import type { SearchCluster } from "../model/search-cluster.ts";
import { clusterLabels } from "../workload/cluster-labels.ts";
import { dashboardsLabels } from "../workload/dashboards-names.ts";
import { monitoringLabels } from "../workload/monitoring-names.ts";
import { operatorPods } from "../workload/operator-pods.ts";

/** Port between nodes. */
const transportPort = 9300;

/** Nodes talk among themselves on the transport port; the HTTP port is open to whom the author names and to what is ours, or to all. */
export function networkPolicy(cluster: SearchCluster): NetworkPolicy {
  const podSelector = { matchLabels: clusterLabels(cluster) };
  const { from } = cluster.networkPolicy;
  const own = [
    { podSelector },
    ...(cluster.operatorNamespace === undefined ? [] : [operatorPods(cluster.operatorNamespace)]),
    ...(cluster.dashboards === undefined
      ? []
      : [{ podSelector: { matchLabels: dashboardsLabels(cluster) } }]),
    ...(cluster.monitoring === undefined
      ? []
      : [{ podSelector: { matchLabels: monitoringLabels(cluster, "exporter") } }]),
  ];
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: `${cluster.name}-nodes`, namespace: cluster.namespace, labels: clusterLabels(cluster) },
    spec: {
      podSelector,
      policyTypes: ["Ingress"],
      ingress: [
        { from: [{ podSelector }], ports: [{ protocol: "TCP", port: transportPort }] },
        {
          ...(from.length === 0 ? {} : { from: [...from, ...own] }),
          ports: [{ protocol: "TCP", port: cluster.httpPort }],
        },
      ],
    },
  };
}
