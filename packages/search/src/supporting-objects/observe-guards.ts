import { type Context, isControlledBy, type Kind, type Live } from "@quartermaster/runtime";
import { networkPolicies, podDisruptionBudgets } from "@quartermaster/runtime/kinds";

import type { ClusterObject } from "../model/read-cluster.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { byCluster } from "../owner-labels.ts";
import { type PresentObject, presentObject } from "../present-object.ts";

/** Disruption budgets of nodes and their network policy, wanted or not. Those of parts of the cluster have other names. */
export function observeGuards(
  object: Live<ClusterObject>,
  { namespace, name }: SearchCluster,
  ctx: Context,
): readonly PresentObject[] {
  const ofKind = (kind: Kind, isNodes: (of: string) => boolean): readonly PresentObject[] =>
    ctx
      .store(kind)
      .listBy(byCluster, `${namespace}/${name}`)
      .filter((live) => isControlledBy(live, object) && isNodes(live.metadata.name))
      .map((live) => presentObject(kind, live));
  return [
    ...ofKind(networkPolicies, (of) => of === `${name}-nodes`),
    ...ofKind(podDisruptionBudgets, (of) => of.endsWith("-pdb")),
  ];
}
