import { isControlledBy, type Live } from "@quartermaster/runtime";
import type { PersistentVolumeClaim, Pod, StatefulSet } from "@quartermaster/runtime/kinds";

import { mountedCertificates, runningTls, withRunningTls } from "./certificates/running-tls.ts";
import { podFacts } from "./facts/pod-facts.ts";
import { volumeFacts } from "./formation/volume-facts.ts";
import { markLabels } from "./marks.ts";
import { imageIssues, otherVersion } from "./model/image-version.ts";
import { type ClusterObject, readCluster } from "./model/read-cluster.ts";
import type { SearchCluster } from "./model/search-cluster.ts";
import { withRunningStorage } from "./pools/running-storage.ts";
import type { Seen } from "./seen.ts";

/** Objects with the cluster's labels: of the stores when it is decided, and read live before something is destroyed. */
export interface Children {
  readonly sets: readonly Live<StatefulSet>[];
  readonly pods: readonly Live<Pod>[];
  readonly claims: readonly Live<PersistentVolumeClaim>[];
}

/** What is declared and what there is of it. */
export type WorkloadSeen = Pick<
  Seen,
  | "object"
  | "cluster"
  | "issues"
  | "ignored"
  | "heldVersion"
  | "heldTls"
  | "heldStorage"
  | "mounted"
  | "status"
  | "statefulSets"
  | "pods"
  | "volumes"
>;

/** Reads the declaration and the workload that belongs to it. */
export function observeWorkload(object: Live<ClusterObject>, { sets, pods, claims }: Children): WorkloadSeen {
  const { cluster: declared, issues, ignored } = readCluster(object);
  const own = sets.filter((set) => isControlledBy(set, object));
  const statefulSets = new Map(own.map((set) => [set.metadata.labels?.[markLabels.pool] ?? "", set]));
  const status = object.status ?? {};
  const isFormed = status.clusterUuid !== undefined;
  const { cluster: versioned, heldVersion } = withRunningVersion(declared, status, statefulSets);
  const running = isFormed ? runningTls({ pods, sets: own }) : undefined;
  const { cluster: secured, heldTls } = withRunningTls(versioned, running);
  const { cluster, heldStorage } = withRunningStorage(secured, statefulSets);
  return {
    object,
    cluster,
    issues: isFormed ? issues : [...issues, ...imageIssues(declared)],
    ignored,
    heldVersion,
    heldTls,
    heldStorage,
    mounted: mountedCertificates({ pods, sets: own }),
    status,
    statefulSets,
    pods: podFacts(pods, statefulSets),
    volumes: volumeFacts(claims, cluster),
  };
}

/**
 * The declaration with the version that the nodes run. Another version is not a matter of a restart: a pod that dies before its turn has
 * to come back with the old one.
 */
function withRunningVersion(
  cluster: SearchCluster,
  { clusterUuid, version: running }: Seen["status"],
  sets: Seen["statefulSets"],
): Pick<Seen, "cluster" | "heldVersion"> {
  const [first] = sets.values();
  const image = imageIn(first);
  const wanted =
    clusterUuid === undefined || running === undefined
      ? undefined
      : otherVersion(cluster, { version: running, image });
  if (wanted === undefined || running === undefined) return { cluster, heldVersion: undefined };
  const pools = cluster.pools.map((pool) =>
    pool.image === undefined ? pool : { ...pool, image: imageIn(sets.get(pool.name)) ?? pool.image },
  );
  return {
    cluster: {
      ...cluster,
      version: running,
      image: { ...cluster.image, name: image ?? cluster.image.name },
      pools,
    },
    heldVersion: wanted,
  };
}

function imageIn(set: Live<StatefulSet> | undefined): string | undefined {
  return set?.spec.template.spec?.containers[0]?.image;
}
