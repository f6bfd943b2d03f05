import { type Context, type Kind, type Live, settled } from "@quartermaster/runtime";
import { persistentVolumeClaims, secrets } from "@quartermaster/runtime/kinds";

import type { LaneRule, SearchLane } from "../lane.ts";
import type { SearchCluster } from "../model/search-cluster.ts";
import { byCluster, ownerLabels } from "../owner-labels.ts";
import { type PresentObject, presentObject } from "../present-object.ts";
import type { SearchAction } from "../search-action.ts";

/** A claim or Secret that outlives the cluster. */
export interface KeptObject extends PresentObject {
  /** The API server refuses to delete it, for every client. */
  readonly isProtected: boolean;
}

/** Claims, CA and passwords of a cluster: what has its owner label and no owner reference. */
export function keptObjects(
  { namespace, name, uid }: Pick<SearchCluster, "namespace" | "name" | "uid">,
  ctx: Pick<Context, "store">,
): readonly KeptObject[] {
  const kinds: readonly Kind[] = [persistentVolumeClaims, secrets];
  return kinds.flatMap((kind) =>
    ctx
      .store(kind)
      .listBy(byCluster, `${namespace}/${name}`)
      .filter(({ metadata }) => metadata.labels?.[ownerLabels.uid] === uid)
      .filter(({ metadata }) => (metadata.ownerReferences ?? []).length === 0)
      .map((live) => ({ ...presentObject(kind, live), isProtected: isProtected(live) })),
  );
}

/** Whether an object has the label by which `config/policy/search-deletion-protection.yaml` refuses its deletion. */
export function isProtected({ metadata }: Live): boolean {
  return metadata.labels?.[ownerLabels.deletionProtected] === "true";
}

/**
 * The cluster's own object is not the only way to its data: a namespace that is deleted takes claims and keys along. They carry the
 * protection as a label, which only the operator changes.
 */
const keepProtection: LaneRule = {
  name: "keepProtection",
  decide: ({ cluster, kept }) => ({
    actions: kept
      .filter((each) => each.isProtected !== cluster.isDeletionProtected && !each.isTerminating)
      .map(({ kind, name, uid }): SearchAction => ({
        kind: "protect",
        resource: kind,
        name,
        uid,
        isProtected: cluster.isDeletionProtected,
      })),
    outcome: settled(),
  }),
};

/** Protection from deletion of what holds the data; also while the cluster is paused or its spec cannot be carried out. */
export const protectionLane: SearchLane = { name: "protection", rules: [keepProtection] };
