import { settled } from "@quartermaster/runtime";
import {
  configMaps,
  networkPolicies,
  type NetworkPolicy,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  services,
} from "@quartermaster/runtime/kinds";

import type { LaneRule, SearchLane } from "../lane.ts";
import { poolNames } from "../model/cluster-names.ts";
import type { NodePool, SearchCluster } from "../model/search-cluster.ts";
import { type PresentObject, pruneActions } from "../present-object.ts";
import { applyAction } from "../search-action.ts";
import type { Seen } from "../seen.ts";
import { clusterConfigMaps } from "../workload/cluster-config-maps.ts";
import { clusterLabels, operatorPods, poolLabels } from "../workload/cluster-labels.ts";
import { clusterServices } from "../workload/cluster-services.ts";
import { dashboardsLabels } from "../workload/dashboards-names.ts";
import { monitoringLabels } from "../workload/monitoring-names.ts";

/** Applied always; the runtime writes only what differs. */
const keepObjects: LaneRule = {
  name: "keepObjects",
  decide: (seen) => {
    const { cluster } = seen;
    return {
      actions: [
        ...clusterServices(cluster).map((service) => applyAction(services, service, cluster)),
        ...clusterConfigMaps(cluster).map((config) => applyAction(configMaps, config, cluster)),
        ...(cluster.networkPolicy.isEnabled
          ? [applyAction(networkPolicies, networkPolicy(cluster), cluster)]
          : []),
        ...disruptionBudgets(seen).map((each) => applyAction(podDisruptionBudgets, each, cluster)),
        ...pruneActions(surplusObjects(seen), seen.object),
      ],
      outcome: settled(),
    };
  },
};

/** Policy and budgets that the spec does not ask for any more: two budgets for one pod keep it from being evicted at all. */
function surplusObjects(seen: Seen): readonly PresentObject[] {
  const { cluster, guards } = seen;
  const wanted = new Set([
    ...(cluster.networkPolicy.isEnabled ? [networkPolicy(cluster)] : []).map(({ metadata }) => metadata.name),
    ...disruptionBudgets(seen).map(({ metadata }) => metadata.name),
  ]);
  return guards.filter(({ name }) => !wanted.has(name));
}

/** Services, configuration, network policy and disruption budgets. */
export const supportingObjectsLane: SearchLane = { name: "objects", rules: [keepObjects] };

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
          ports: [cluster.httpPort, ...(cluster.grpc === undefined ? [] : [cluster.grpc.port])].map(
            (port) => ({
              protocol: "TCP",
              port,
            }),
          ),
        },
      ],
    },
  };
}

/**
 * One budget for all pools that have none of their own: one pod may be evicted while the cluster is green and nodes are not being
 * restarted or removed by us, none otherwise. A single node
 * may always go: there is no moment at which its eviction would be safer.
 */
function disruptionBudgets(
  seen: Pick<Seen, "cluster" | "engine" | "status">,
): readonly PodDisruptionBudget[] {
  const { cluster } = seen;
  const own = cluster.pools.filter(({ pdb }) => pdb !== undefined);
  const rest = cluster.pools.filter(({ pdb }) => pdb === undefined);
  return [
    ...own.map((pool) => ownBudget(cluster, pool)),
    ...(rest.length === 0 ? [] : [sharedBudget(seen, own)]),
  ];
}

function ownBudget(cluster: SearchCluster, pool: NodePool): PodDisruptionBudget {
  return budget(cluster, `${poolNames(cluster, pool).statefulSet}-pdb`, {
    ...pool.pdb,
    selector: { matchLabels: poolLabels(cluster, pool) },
  });
}

function sharedBudget(
  { cluster, engine, status }: Pick<Seen, "cluster" | "engine" | "status">,
  own: readonly NodePool[],
): PodDisruptionBudget {
  const nodes = cluster.pools.reduce((sum, { replicas }) => sum + replicas, 0);
  const isGreen = engine.health.isKnown && engine.health.value.status === "green";
  // From the first node of a roll to the last, not only while one of them is away.
  const isUnderWay =
    status.operation !== undefined ||
    status.nodePools?.some(
      ({ outdated = 0, desired = 0, target = 0 }) => outdated > 0 || target > desired,
    ) === true;
  const [poolKey = ""] = Object.keys(poolLabels(cluster, { name: "" })).filter(
    (key) => !(key in clusterLabels(cluster)),
  );
  const excluded =
    own.length === 0
      ? {}
      : { matchExpressions: [{ key: poolKey, operator: "NotIn", values: own.map(({ name }) => name) }] };
  return budget(cluster, `${cluster.name}-pdb`, {
    maxUnavailable: (isGreen && !isUnderWay) || nodes === 1 ? 1 : 0,
    selector: { matchLabels: clusterLabels(cluster), ...excluded },
  });
}

function budget(
  cluster: SearchCluster,
  name: string,
  spec: NonNullable<PodDisruptionBudget["spec"]>,
): PodDisruptionBudget {
  const { namespace } = cluster;
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace, labels: clusterLabels(cluster) },
    spec,
  };
}
