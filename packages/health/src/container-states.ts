import { fieldOf, type KubeObject, listOf, textOf } from "@quartermaster/runtime";

import { numberOr, partOf } from "./read-conditions.ts";

/** One container of a pod, as its kubelet reports it. */
export interface ContainerState {
  readonly name: string;
  readonly image: string;
  readonly isReady: boolean;
  /** Why it does not run, e.g. `CrashLoopBackOff`; empty when it does, or has ended. */
  readonly waiting: string;
  readonly waitingMessage: string;
  /** How it ended, now or before its last start. */
  readonly exit?: { readonly code: number; readonly reason: string };
  readonly isRestarted: boolean;
}

/** Reasons for which a container waits because of its image. */
export const pullProblems: ReadonlySet<string> = new Set([
  "ImagePullBackOff",
  "ErrImagePull",
  "InvalidImageName",
  "ErrImageNeverPull",
]);

/** The containers of a pod in the order in which they start. */
export function containerStates(pod: KubeObject): readonly ContainerState[] {
  const status = partOf(pod, "status");
  return [...listOf(status, "initContainerStatuses"), ...listOf(status, "containerStatuses")].map(stateOf);
}

function stateOf(container: unknown): ContainerState {
  const state = fieldOf(container, "state");
  const waiting = fieldOf(state, "waiting");
  const ended = fieldOf(state, "terminated") ?? fieldOf(fieldOf(container, "lastState"), "terminated");
  return {
    name: textOf(container, "name") ?? "",
    image: textOf(container, "image") ?? "",
    isReady: fieldOf(container, "ready") === true,
    waiting: textOf(waiting, "reason") ?? "",
    waitingMessage: textOf(waiting, "message") ?? "",
    isRestarted: numberOr(fieldOf(container, "restartCount"), 0) > 0,
    ...(ended === undefined
      ? {}
      : { exit: { code: numberOr(fieldOf(ended, "exitCode"), 0), reason: textOf(ended, "reason") ?? "" } }),
  };
}
