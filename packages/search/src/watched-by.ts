import { openSearchCluster, opsterOpenSearchCluster } from "@quartermaster/api";
import {
  type InformerRequest,
  type Kind,
  type KubeObject,
  type Live,
  mappedFrom,
  type MappedSource,
  type WokenRef,
} from "@quartermaster/runtime";
import { configMaps, persistentVolumeClaims, pods, secrets } from "@quartermaster/runtime/kinds";

import { boundedData } from "./bounded-data.ts";
import { ownerLabels } from "./owner-labels.ts";

/** Objects besides the owned ones that bring a cluster back; that of the same name in the other group, where there are two. */
export function watchedBy({ group }: Kind): readonly MappedSource[] {
  const groups = [openSearchCluster.kind, opsterOpenSearchCluster.kind];
  const others = groups.some((each) => each.group === group)
    ? groups.filter((each) => each.group !== group)
    : [];
  return [
    mappedFrom(owned(pods), clusterOf),
    mappedFrom(owned(persistentVolumeClaims), clusterOf),
    mappedFrom(owned(secrets), clusterOf),
    ...others.map((kind) => mappedFrom({ kind }, ({ metadata }) => [metadata])),
  ];
}

/** Only objects with our labels are kept in memory. */
export function owned<O extends KubeObject>(kind: Kind<O>): InformerRequest<O> {
  const projection = storedData.get(kind.kind);
  return { kind, labelSelector: ownerLabels.cluster, ...(projection === undefined ? {} : { projection }) };
}

/** The label is a tenant's to write. Of ours only the record of very many users and roles is larger. */
const storedData: ReadonlyMap<string, ReturnType<typeof boundedData>> = new Map([
  [configMaps.kind, boundedData(64)],
  [secrets.kind, boundedData(64)],
]);

/** The cluster that an object names in its labels. */
function clusterOf({ metadata: { namespace, labels } }: Live): readonly WokenRef[] {
  const name = labels?.[ownerLabels.cluster];
  return name === undefined || namespace === undefined ? [] : [{ namespace, name }];
}
