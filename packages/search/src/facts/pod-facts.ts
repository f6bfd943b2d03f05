import type { Live } from "@quartermaster/runtime";
import type { Pod, StatefulSet } from "@quartermaster/runtime/kinds";

import { markAnnotations, markLabels } from "../marks.ts";
import type { PodFacts } from "../seen.ts";

/** The pods that our StatefulSets made, by name. Labels alone prove nothing: a pod that somebody else labelled is not one of them. */
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

function factsOf({ metadata, status }: Live<Pod>): PodFacts {
  const { name, uid, labels = {}, annotations = {}, deletionTimestamp } = metadata;
  const containers = containersOf(status);
  return {
    name,
    uid,
    pool: labels[markLabels.pool] ?? "",
    ip: status?.podIP,
    ...readinessOf({ metadata, status }),
    isTerminating: deletionTimestamp !== undefined,
    inputsHash: annotations[markAnnotations.inputsHash],
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

/** What the scheduler says keeps the pod from running. */
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

/** What the kubelet says keeps the pod from running. */
function stuckContainer(status: Status): string | undefined {
  const stuck = containersOf(status).flatMap(({ name, state }) => {
    const reason = state?.waiting?.reason;
    return reason === undefined || harmless.has(reason) ? [] : [`${name}: ${reason}`];
  });
  return stuck[0];
}
