import { firstTen, opsterOpenSearchCluster } from "@quartermaster/api";
import { type Context, isControlledBy, type Kind, type KubeObject, type Live } from "@quartermaster/runtime";
import {
  configMaps,
  deployments,
  networkPolicies,
  persistentVolumeClaims,
  podDisruptionBudgets,
  secrets,
  services,
  statefulSets,
} from "@quartermaster/runtime/kinds";

import { type ClusterObject, readCluster } from "../model/read-cluster.ts";
import { monitoringKinds } from "../monitoring/monitoring-kinds.ts";
import { byCluster, ownerLabels } from "../owner-labels.ts";
import { type PresentObject, presentObject } from "../present-object.ts";
import type { ClusterStatus } from "../seen.ts";

/** Kinds of objects that a cluster owns. */
export const ownedKinds: readonly Kind[] = [
  statefulSets,
  deployments,
  services,
  configMaps,
  networkPolicies,
  podDisruptionBudgets,
  ...Object.values(monitoringKinds),
];

/** Name of the controller of a kind of cluster; it is the manager of the fields that it applies. */
export function managerOf({ group }: Pick<Kind, "group">): string {
  const [first = "", second = ""] = group.split(".");
  return `search-${first}-${second}`;
}

/** Kinds of objects that change hands: pods follow their StatefulSet. */
const handedKinds: readonly Kind[] = [...ownedKinds, secrets, persistentVolumeClaims];

/** The object of the same name in the older group, and what it still has. */
export interface Predecessor {
  readonly uid: string;
  /** Decisions about the cluster: they go with the objects. */
  readonly status: Partial<ClusterStatus>;
  readonly isDeletionProtected: boolean;
  readonly left: readonly PresentObject[];
}

/** The predecessor of an object of the newer group; undefined where there is none. */
export function predecessorOf({ metadata }: Live<ClusterObject>, ctx: Context): Predecessor | undefined {
  const older = ctx.store(opsterOpenSearchCluster.kind).get(metadata);
  if (older === undefined) return undefined;
  return {
    uid: older.metadata.uid,
    status: older.status ?? {},
    isDeletionProtected: readCluster(older).cluster.isDeletionProtected,
    left: objectsOf(older, ctx),
  };
}

/** Objects that belong to a cluster's object: by owner reference, or by owner labels where they have none. */
export function objectsOf(object: Live, ctx: Context): readonly PresentObject[] {
  const { namespace, name } = object.metadata;
  return handedKinds.flatMap((kind) =>
    ctx
      .store(kind)
      .listBy(byCluster, `${namespace}/${name}`)
      .filter((live) => belongsTo(live, object))
      .map((live) => presentObject(kind, live)),
  );
}

/** Whether an object belongs to the cluster's object and to no other. */
export function belongsTo(live: KubeObject, owner: KubeObject): boolean {
  if (isControlledBy(live, owner)) return true;
  const { ownerReferences = [], labels } = live.metadata;
  return (
    labels?.[ownerLabels.uid] === owner.metadata.uid &&
    ownerReferences.every(({ controller }) => controller !== true)
  );
}

/** `Kind name`, the first ten. */
export function namesOf(objects: readonly PresentObject[]): string {
  return firstTen(objects.map(({ kind, name }) => `${kind.kind} ${name}`));
}
