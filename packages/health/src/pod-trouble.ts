import { fieldOf, type KubeObject, listOf, textOf } from "@quartermaster/runtime";

import { type ContainerState, containerStates, pullProblems } from "./container-states.ts";
import { conditionOf, partOf, conditionText } from "./read-conditions.ts";

/** The reason that a pod is not ready, in its own words; the same as long as nothing changes. */
export interface PodTrouble {
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

/**
 * Why the pods of a workload are not ready: the most telling trouble among them. Undefined when none has any, e.g. because they
 * have only just been made. Pods that are being deleted do not count.
 */
export function podTroubleOf(pods: readonly KubeObject[]): PodTrouble | undefined {
  const inOrder = pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  for (const trouble of troubles) {
    const found = inOrder.map(trouble).find((each) => each !== undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Problems that a user has to fix come first, those that may pass come last. */
const troubles: readonly ((pod: KubeObject) => PodTrouble | undefined)[] = [
  imageNotPulled,
  containerNotCreated,
  containerExited,
  podFailed,
  unschedulable,
  notReady,
];

/** One reason for both that a kubelet reports in turns. */
function imageNotPulled(pod: KubeObject): PodTrouble | undefined {
  const found = containerStates(pod).find(({ waiting }) => pullProblems.has(waiting));
  if (found === undefined) return undefined;
  const { name, image, waiting } = found;
  return {
    reason: waiting === "ErrImagePull" ? "ImagePullBackOff" : waiting,
    message: `Pod ${pod.metadata.name}: the image ${image} of container ${name} cannot be pulled.`,
  };
}

const creationProblems: ReadonlySet<string> = new Set([
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
]);

function containerNotCreated(pod: KubeObject): PodTrouble | undefined {
  const found = containerStates(pod).find(({ waiting }) => creationProblems.has(waiting));
  if (found === undefined) return undefined;
  const why = found.waitingMessage === "" ? "" : `: ${found.waitingMessage}`;
  return {
    reason: found.waiting,
    message: `Pod ${pod.metadata.name}: container ${found.name} cannot be started${why}.`,
  };
}

/** Also while it runs again for a short time: until it is ready, its last end is what there is to say. */
function containerExited(pod: KubeObject): PodTrouble | undefined {
  const found = containerStates(pod).find(
    ({ exit, isReady }) => exit !== undefined && exit.code !== 0 && !isReady,
  );
  if (found?.exit === undefined) return undefined;
  const { name, exit, isRestarted } = found;
  return {
    reason: isRestarted ? "CrashLoopBackOff" : "ContainerFailed",
    message: `Pod ${pod.metadata.name}: container ${name} ${describeExit(exit)}; check its logs.`,
  };
}

function describeExit({ code, reason }: NonNullable<ContainerState["exit"]>): string {
  if (reason === "OOMKilled") return `ran out of memory and was killed (exit code ${code})`;
  return `exited with code ${code}`;
}

/** E.g. evicted. */
function podFailed(pod: KubeObject): PodTrouble | undefined {
  const status = partOf(pod, "status");
  if (textOf(status, "phase") !== "Failed") return undefined;
  const output = textOf(status, "message") ?? textOf(status, "reason") ?? "it does not say why";
  return { reason: "PodFailed", message: `Pod ${pod.metadata.name} has failed: ${output}` };
}

function unschedulable(pod: KubeObject): PodTrouble | undefined {
  const scheduled = conditionOf(pod, "PodScheduled");
  if (scheduled?.status !== "False" || scheduled.reason !== "Unschedulable") return undefined;
  const text = conditionText(scheduled, "it does not fit on any node.");
  return { reason: "Unschedulable", message: `Pod ${pod.metadata.name} cannot be scheduled: ${text}` };
}

/** Its containers run; most often a readiness probe does not pass. */
function notReady(pod: KubeObject): PodTrouble | undefined {
  if (partOf(pod, "status", "phase") !== "Running") return undefined;
  if (conditionOf(pod, "Ready")?.status !== "False") return undefined;
  const names = listOf(partOf(pod, "status"), "containerStatuses")
    .filter((container) => fieldOf(container, "ready") === false)
    .map((container) => textOf(container, "name") ?? "");
  if (names.length === 0) return undefined;
  const which = `container${names.length === 1 ? "" : "s"} ${names.join(", ")}`;
  const text = `${which} ${names.length === 1 ? "is" : "are"} running but not ready`;
  return { reason: "NotReady", message: `Pod ${pod.metadata.name}: ${text}.` };
}
