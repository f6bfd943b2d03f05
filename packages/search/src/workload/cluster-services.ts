import type { Service } from "@quartermaster/runtime/kinds";

import { clusterNames, poolNames } from "../model/cluster-names.ts";
import type { NodePool, SearchCluster } from "../model/search-cluster.ts";
import { clusterLabels, managerLabels, poolLabels } from "./cluster-labels.ts";
import { transportPort } from "./node-settings.ts";

/** All Services of a cluster: for clients, for discovery, and one per pool. */
export function clusterServices(cluster: SearchCluster): readonly Service[] {
  return [
    clientService(cluster),
    discoveryService(cluster),
    ...cluster.pools.map((pool) => poolService(cluster, pool)),
  ];
}

/** Clients come in here, to nodes that are ready. */
function clientService(cluster: SearchCluster): Service {
  const selector = clusterLabels(cluster);
  return service(cluster, clusterNames(cluster).clientService, {
    type: "ClusterIP",
    selector,
    ports: [httpPort(cluster)],
  });
}

/** Nodes find the managers here before there is a cluster, so no one can be ready yet. */
function discoveryService(cluster: SearchCluster): Service {
  return service(cluster, clusterNames(cluster).discoveryService, {
    clusterIP: "None",
    publishNotReadyAddresses: true,
    selector: managerLabels(cluster),
    ports: [{ name: "transport", port: transportPort, targetPort: "transport", protocol: "TCP" }],
  });
}

/** Gives the pods of a pool their names. */
function poolService(cluster: SearchCluster, pool: NodePool): Service {
  return service(cluster, poolNames(cluster, pool).service, {
    clusterIP: "None",
    publishNotReadyAddresses: true,
    selector: poolLabels(cluster, pool),
    ports: [httpPort(cluster)],
  });
}

function httpPort({
  httpPort: port,
}: SearchCluster): NonNullable<NonNullable<Service["spec"]>["ports"]>[number] {
  return { name: "http", port, targetPort: "http", protocol: "TCP" };
}

function service(cluster: SearchCluster, name: string, spec: NonNullable<Service["spec"]>): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: cluster.namespace, labels: clusterLabels(cluster) },
    spec,
  };
}
