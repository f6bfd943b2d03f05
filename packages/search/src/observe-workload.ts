import { isControlledBy, type Live } from "@quartermaster/runtime";
import type { PersistentVolumeClaim, Pod, StatefulSet } from "@quartermaster/runtime/kinds";

import { mountedCertificates, runningTls, withRunningTls } from "./certificates/running-tls.ts";
import { volumeFacts } from "./formation/volume-facts.ts";
import { imageIssues, otherVersion } from "./model/image-version.ts";
import { type ClusterObject, readCluster } from "./model/read-cluster.ts";
import type { SearchCluster } from "./model/search-cluster.ts";
import { ownerAnnotations, ownerLabels } from "./owner-labels.ts";
import { withRunningStorage } from "./pools/running-storage.ts";
import type { PodFacts, Seen } from "./seen.ts";
import { attributeAnnotation } from "./workload/attribute-annotation.ts";

/** Objects with the cluster's labels: of the stores when it is decided, and read live before something is destroyed. */
export interface Children {
  readonly sets: readonly Live<StatefulSet>[];
  readonly pods: readonly Live<Pod>[];
  readonly claims: readonly Live<PersistentVolumeClaim>[];
}

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
  const statefulSets = new Map(own.map((set) => [set.metadata.labels?.[ownerLabels.pool] ?? "", set]));
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

/** The pods that our StatefulSets made, by name. Labels alone prove nothing: a pod that another client labelled is not one of them. */
export function podFacts(
  pods: readonly Live<Pod>[],
  sets: ReadonlyMap<string, Live<StatefulSet>>,
): readonly PodFacts[] {
  const owners = new Set([...sets.values()].map(({ metadata }) => metadata.uid));
  return pods
    .filter(({ metadata: { ownerReferences = [] } }) =>
      ownerReferences.some(({ controller, uid }) => controller === true && owners.has(uid)),
    )
    .map(factsOf)
    .toSorted((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));
}

function attributesIn(annotations: Readonly<Record<string, string>>): readonly string[] {
  const prefix = attributeAnnotation("");
  return Object.keys(annotations).flatMap((key) =>
    key.startsWith(prefix) ? [key.slice(prefix.length)] : [],
  );
}

function factsOf({ metadata, status, spec }: Live<Pod>): PodFacts {
  const { name, uid, labels = {}, annotations = {}, deletionTimestamp } = metadata;
  const containers = containersOf(status);
  return {
    name,
    uid,
    pool: labels[ownerLabels.pool] ?? "",
    ip: status?.podIP,
    ...readinessOf({ metadata, status }),
    isTerminating: deletionTimestamp !== undefined,
    inputsHash: annotations[ownerAnnotations.inputsHash],
    machine: spec?.nodeName,
    attributes: attributesIn(annotations),
    trouble: unscheduledBecause(status) ?? crashOf(name, status) ?? stuckContainer(status),
    restarts: containers.reduce((sum, { restartCount }) => sum + restartCount, 0),
    isImageMissing: containers.some(({ state }) => imageTroubles.has(state?.waiting?.reason ?? "")),
    isPending: status?.phase === undefined || status.phase === "Pending",
  };
}

function readinessOf({
  metadata,
  status,
}: Pick<Live<Pod>, "metadata"> & { readonly status: Status }): Pick<PodFacts, "isReady" | "unreadySinceMs"> {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return { isReady: true, unreadySinceMs: undefined };
  const sinceMs = Date.parse(ready?.lastTransitionTime ?? metadata.creationTimestamp ?? "");
  return { isReady: false, unreadySinceMs: Number.isNaN(sinceMs) ? undefined : sinceMs };
}

type Status = Pod["status"];
type ContainerStatus = NonNullable<NonNullable<Status>["containerStatuses"]>[number];

const imageTroubles = new Set(["ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull"]);
const harmless = new Set(["PodInitializing", "ContainerCreating"]);

function containersOf(status: Status): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

/** Reason of the scheduler why the pod does not run. */
function unscheduledBecause(status: Status): string | undefined {
  const unscheduled = status?.conditions?.find(
    ({ type, status: is }) => type === "PodScheduled" && is === "False",
  );
  return unscheduled === undefined ? undefined : (unscheduled.message ?? "cannot be scheduled");
}

/**
 * A container that ends again and again, with how it ended last: the same words while it waits, runs for a moment and ends, because each
 * new sentence is a write.
 */
function crashOf(pod: string, status: Status): string | undefined {
  const crashes = containersOf(status).flatMap(({ name, ready, restartCount, state, lastState }) => {
    const ended = state?.terminated ?? lastState?.terminated;
    if (ready || restartCount === 0 || ended === undefined || ended.exitCode === 0) return [];
    const why = ended.reason === undefined || ended.reason === "Error" ? "" : ` (${ended.reason})`;
    return [
      `container ${name} ends with exit code ${String(ended.exitCode)}${why} and is started again; kubectl logs ${pod} -c ${name} --previous says why`,
    ];
  });
  return crashes[0];
}

/** Reason of kubelet why the pod does not run. */
function stuckContainer(status: Status): string | undefined {
  const stuck = containersOf(status).flatMap(({ name, state }) => {
    const reason = state?.waiting?.reason;
    return reason === undefined || harmless.has(reason) ? [] : [`${name}: ${reason}`];
  });
  return stuck[0];
}
