import type { PersistentVolumeClaim, StatefulSet } from "@quartermaster/runtime/kinds";

import { poolNames } from "../model/cluster-names.ts";
import { ownerless } from "../model/object-metadata.ts";
import type { NodePool, SearchCluster } from "../model/search-cluster.ts";
import { ownerAnnotations } from "../owner-labels.ts";
import { givenAnnotations, poolLabels } from "./cluster-labels.ts";
import { poolPod } from "./pool-pod.ts";
import { dataVolume } from "./pool-volumes.ts";

export interface StatefulSetChoice {
  /** `poolInputsHash`; stamped on the pods. */
  readonly inputsHash: string;
  /** See `acceptedInputs` (default: none). */
  readonly lateInputs?: string | undefined;
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
  { inputsHash, lateInputs, replicas = pool.replicas }: StatefulSetChoice,
): StatefulSet {
  const names = poolNames(cluster, pool);
  const labels = poolLabels(cluster, pool);
  const claims = claimTemplates(cluster, pool);
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: {
      name: names.statefulSet,
      namespace: cluster.namespace,
      labels: { ...ownerless(pool.pod.labels), ...labels },
      ...givenAnnotations({
        ...ownerless(pool.pod.annotations),
        ...(lateInputs === undefined ? {} : { [ownerAnnotations.lateInputs]: lateInputs }),
      }),
    },
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
        ...givenAnnotations(annotations),
      },
      spec: {
        accessModes,
        resources: { requests: { storage: size } },
        ...(storageClass === undefined ? {} : { storageClassName: storageClass }),
      },
    },
  ];
}
