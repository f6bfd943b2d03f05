import type { PersistentVolumeClaim, StatefulSet } from "@quartermaster/runtime/kinds";

import { poolNames } from "../model/cluster-names.ts";
import type { NodePool, SearchCluster } from "../model/search-cluster.ts";
import { poolLabels } from "./cluster-labels.ts";
import { poolPod } from "./pool-pod.ts";
import { dataVolume } from "./pool-volumes.ts";

export interface StatefulSetChoice {
  /** `poolInputsHash`; stamped on the pods. */
  readonly inputsHash: string;
  /** Default: as many as the pool declares. Lanes hold it back while nodes are removed. */
  readonly replicas?: number | undefined;
}

/**
 * The StatefulSet of a pool. All pods start together: managers that wait for each other in order never form a cluster. Pods change only
 * when they are deleted, which lanes do one at a time and after their checks.
 */
export function poolStatefulSet(
  cluster: SearchCluster,
  pool: NodePool,
  { inputsHash, replicas = pool.replicas }: StatefulSetChoice,
): StatefulSet {
  const names = poolNames(cluster, pool);
  const labels = poolLabels(cluster, pool);
  const claims = claimTemplates(cluster, pool);
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: names.statefulSet, namespace: cluster.namespace, labels },
    spec: {
      replicas,
      serviceName: names.service,
      selector: { matchLabels: labels },
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "OnDelete" },
      // Volumes are deleted by us alone, and only after a check of their content.
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      template: poolPod(cluster, pool, inputsHash),
      ...(claims.length === 0 ? {} : { volumeClaimTemplates: claims }),
    },
  };
}

function claimTemplates(
  cluster: SearchCluster,
  pool: NodePool,
): readonly Omit<PersistentVolumeClaim, "apiVersion" | "kind">[] {
  const { storage } = pool;
  if (storage.kind !== "volume") return [];
  const { size, storageClass, accessModes, labels, annotations } = storage;
  return [
    {
      metadata: {
        name: dataVolume,
        labels: { ...labels, ...poolLabels(cluster, pool) },
        // The server drops empty maps, and what differs from what it has would be applied again and again.
        ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      },
      spec: {
        accessModes,
        resources: { requests: { storage: size } },
        ...(storageClass === undefined ? {} : { storageClassName: storageClass }),
      },
    },
  ];
}
