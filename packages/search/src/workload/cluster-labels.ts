import type { JsonObject } from "@quartermaster/runtime";

import { podDialect } from "../distributions/distributions.ts";
import { isManagerPool, type NodePool, type SearchCluster } from "../model/search-cluster.ts";

type Labels = Readonly<Record<string, string>>;

export function clusterLabels(cluster: Pick<SearchCluster, "distribution" | "version" | "name">): Labels {
  const { engine, labelPrefix } = podDialect(cluster);
  return { [`${labelPrefix}/${engine}-cluster`]: cluster.name };
}

/** Labels that select the pods of a pool. A StatefulSet's selector cannot be changed: neither can this. */
export function poolLabels(cluster: SearchCluster, pool: Pick<NodePool, "name">): Labels {
  const { engine, labelPrefix } = podDialect(cluster);
  return { ...clusterLabels(cluster), [`${labelPrefix}/${engine}-nodepool`]: pool.name };
}

export function managerLabels(cluster: SearchCluster): Labels {
  return { ...clusterLabels(cluster), [managerLabel]: "true" };
}

/** All labels of a pool's pods that are ours. */
export function podLabels(cluster: SearchCluster, pool: NodePool): Labels {
  // Never absent: an author's label of this name would lead nodes to pods that cannot be manager.
  return { ...poolLabels(cluster, pool), [managerLabel]: String(isManagerPool(pool)) };
}

/** Annotations as part of metadata. The server drops empty maps, and what differs from what it has would be applied again and again. */
export function givenAnnotations(annotations: Labels): { readonly annotations?: Labels } {
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

const managerLabel = "search.quartermaster.dev/manager";

/** The operator, as a peer of a NetworkPolicy. By namespace and label: a label alone is anybody's to set. */
export function operatorPods(namespace: string): JsonObject {
  return {
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
    podSelector: { matchLabels: { "app.kubernetes.io/name": "quartermaster-operator" } },
  };
}
