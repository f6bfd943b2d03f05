import type { Service } from "@quartermaster/runtime/kinds";

import { clusterNames, poolNames } from "../model/cluster-names.ts";
import { type ClientServiceSettings, ownerless } from "../model/object-metadata.ts";
import type { NodePool, SearchCluster } from "../model/search-cluster.ts";
import { clusterLabels, givenAnnotations, managerLabels, poolLabels } from "./cluster-labels.ts";
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
  const { service: settings } = cluster;
  return service(cluster, clusterNames(cluster).clientService, {
    spec: {
      type: settings?.type ?? "ClusterIP",
      selector: clusterLabels(cluster),
      ports: [httpPort(cluster), ...grpcPorts(cluster)],
      ...(settings === undefined ? {} : exposure(settings)),
    },
    labels: settings?.labels,
    annotations: { ...cluster.serviceAnnotations, ...settings?.annotations },
  });
}

/** The API server refuses what does not belong to the type; the condition FieldsIgnored names it. */
function exposure({
  type,
  sourceRanges,
  loadBalancerClass,
  externalTrafficPolicy,
}: ClientServiceSettings): Partial<NonNullable<Service["spec"]>> {
  const isBalanced = type === "LoadBalancer";
  return {
    ...(isBalanced && loadBalancerClass !== undefined ? { loadBalancerClass } : {}),
    ...(isBalanced && sourceRanges.length > 0 ? { loadBalancerSourceRanges: sourceRanges } : {}),
    ...(type !== "ClusterIP" && externalTrafficPolicy !== undefined ? { externalTrafficPolicy } : {}),
  };
}

/** Nodes find the managers here before there is a cluster, so no one can be ready yet. */
function discoveryService(cluster: SearchCluster): Service {
  return service(cluster, clusterNames(cluster).discoveryService, {
    spec: {
      clusterIP: "None",
      publishNotReadyAddresses: true,
      selector: managerLabels(cluster),
      ports: [{ name: "transport", port: transportPort, targetPort: "transport", protocol: "TCP" }],
    },
  });
}

/** Gives the pods of a pool their names. */
function poolService(cluster: SearchCluster, pool: NodePool): Service {
  return service(cluster, poolNames(cluster, pool).service, {
    spec: {
      clusterIP: "None",
      publishNotReadyAddresses: true,
      selector: poolLabels(cluster, pool),
      ports: [httpPort(cluster), ...grpcPorts(cluster)],
    },
    labels: ownerless(pool.pod.labels),
    annotations: { ...cluster.serviceAnnotations, ...ownerless(pool.pod.annotations) },
  });
}

type Port = NonNullable<NonNullable<Service["spec"]>["ports"]>[number];

function httpPort({ httpPort: port }: SearchCluster): Port {
  return { name: "http", port, targetPort: "http", protocol: "TCP" };
}

function grpcPorts({ grpc }: SearchCluster): readonly Port[] {
  return grpc === undefined ? [] : [{ name: "grpc", port: grpc.port, targetPort: "grpc", protocol: "TCP" }];
}

interface ServiceContent {
  readonly spec: NonNullable<Service["spec"]>;
  readonly labels?: StringMap | undefined;
  readonly annotations?: StringMap | undefined;
}

type StringMap = Readonly<Record<string, string>>;

function service(
  cluster: SearchCluster,
  name: string,
  { spec, labels = {}, annotations = {} }: ServiceContent,
): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name,
      namespace: cluster.namespace,
      labels: { ...labels, ...clusterLabels(cluster) },
      ...givenAnnotations(annotations),
    },
    spec,
  };
}
