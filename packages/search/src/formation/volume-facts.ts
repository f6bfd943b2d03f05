import type { KubeObject, Live } from "@quartermaster/runtime";
import type { PersistentVolumeClaim } from "@quartermaster/runtime/kinds";

import { markAnnotations, markLabels } from "../marks.ts";
import { quantityBytes } from "../model/quantity-units.ts";
import { isDataPool, isManagerPool, type NodePool, type SearchCluster } from "../model/search-cluster.ts";

/** What is known of a volume before anything runs on it. */
export interface VolumeFacts {
  /** Name of the claim. */
  readonly name: string;
  readonly uid: string;
  /** Name of the node whose it is. */
  readonly node: string;
  readonly holdsManager: boolean;
  readonly holdsData: boolean;
  /** UUID of the cluster whose data is on it; undefined for one that no cluster is known to have formed on. */
  readonly engineUuid: string | undefined;
  /** How many managers that cluster had. */
  readonly managers: number | undefined;
  /** What the claim asks for. */
  readonly sizeBytes: number | undefined;
  /** What it has got. */
  readonly capacityBytes: number | undefined;
}

/** Claims are named `data-<pod>`. */
const CLAIM_PREFIX = "data-";

/** Reads the marks of a cluster's claims. Claims on their way out do not count. */
export function volumeFacts(
  claims: readonly Live<PersistentVolumeClaim>[],
  cluster: Pick<SearchCluster, "pools">,
): readonly VolumeFacts[] {
  return claims
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((claim) => factsOf(claim, cluster))
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

function factsOf(
  { metadata, ...rest }: Live<PersistentVolumeClaim>,
  { pools }: Pick<SearchCluster, "pools">,
): VolumeFacts {
  const { annotations = {}, name, uid } = metadata;
  const marked = annotations[markAnnotations.holds]?.split(",");
  const pool = pools.find((each) => each.name === poolOf({ metadata }));
  const managers = Number(annotations[markAnnotations.managers]);
  return {
    name,
    uid,
    node: name.slice(CLAIM_PREFIX.length),
    holdsManager: marked?.includes("manager") ?? holds(pool, isManagerPool),
    holdsData: marked?.includes("data") ?? holds(pool, isDataPool),
    engineUuid: annotations[markAnnotations.engineUuid],
    managers: Number.isInteger(managers) && managers > 0 ? managers : undefined,
    ...sizeOf(rest),
  };
}

function sizeOf({
  spec,
  status,
}: Pick<PersistentVolumeClaim, "spec" | "status">): Pick<VolumeFacts, "sizeBytes" | "capacityBytes"> {
  return {
    sizeBytes: quantityBytes(spec?.resources?.requests?.["storage"]),
    capacityBytes: quantityBytes(status?.capacity?.["storage"]),
  };
}

function poolOf({ metadata }: Pick<KubeObject, "metadata">): string | undefined {
  return metadata.labels?.[markLabels.pool];
}

/** Of a pool that is no longer declared the volume may hold anything. */
function holds(pool: NodePool | undefined, answer: (pool: NodePool) => boolean): boolean {
  return pool === undefined || answer(pool);
}
