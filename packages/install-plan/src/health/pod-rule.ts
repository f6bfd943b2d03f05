import { fieldOf, type KubeObject, listOf, textOf } from "@quartermaster/runtime";

import { failed, type Health, type HealthFacts, inProgress, type KindRule, ready, until } from "./health.ts";
import { conditionOf, partOf, trueCondition, wordsOf } from "./object-parts.ts";

/** Pods that are in a plan by themselves. */
export const podRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([["/Pod", pod]]);

/** A scheduler needs some time; after this the pod does not fit on any node. */
const unschedulableAfterMs = 15_000;
/** A registry may be slow or the pull secret late; after this the image is wrong. */
const pullFailsAfterMs = 60_000;

const pullFaults: ReadonlySet<string> = new Set(["ImagePullBackOff", "ErrImagePull", "InvalidImageName"]);

function pod(object: KubeObject, facts: HealthFacts): Health {
  const phase = partOf(object, "status", "phase");
  if (phase === "Succeeded") return ready("The pod has completed.");
  if (phase === "Failed") return failed("PodFailed", failureOf(object));
  return brokenContainer(object, facts) ?? (phase === "Running" ? running(object) : pending(object, facts));
}

function running(object: KubeObject): Health {
  if (trueCondition(object, "Ready") !== undefined) return ready("The pod is ready.");
  return inProgress("NotReady", "The pod is running but not ready.");
}

function pending(object: KubeObject, { stateAgeMs }: HealthFacts): Health {
  const scheduled = conditionOf(object, "PodScheduled");
  if (scheduled?.status !== "False" || scheduled.reason !== "Unschedulable") {
    return inProgress("Pending", "The pod has not started.");
  }
  const words = wordsOf(scheduled, "The pod does not fit on any node.");
  return until(unschedulableAfterMs, stateAgeMs, [
    inProgress("Unschedulable", words),
    failed("Unschedulable", words),
  ]);
}

/** Our own words: those of the kubelet count seconds. */
function brokenContainer(object: KubeObject, { stateAgeMs }: HealthFacts): Health | undefined {
  const waits = waitingContainers(object);
  const crashing = waits.find(({ reason }) => reason === "CrashLoopBackOff");
  if (crashing !== undefined && partOf(object, "status", "phase") === "Running") {
    return failed("CrashLoopBackOff", `Container ${crashing.name} keeps crashing; check its logs.`);
  }
  const pulling = waits.find(({ reason }) => pullFaults.has(reason));
  if (pulling === undefined) return undefined;
  const words = `The image of container ${pulling.name} cannot be pulled.`;
  return until(pullFailsAfterMs, stateAgeMs, [
    inProgress(pulling.reason, words),
    failed(pulling.reason, words),
  ]);
}

interface Wait {
  readonly name: string;
  readonly reason: string;
}

function waitingContainers(object: KubeObject): readonly Wait[] {
  const status = partOf(object, "status");
  const containers = [...listOf(status, "initContainerStatuses"), ...listOf(status, "containerStatuses")];
  return containers.map((container) => ({
    name: textOf(container, "name") ?? "",
    reason: textOf(fieldOf(fieldOf(container, "state"), "waiting"), "reason") ?? "",
  }));
}

function failureOf(object: KubeObject): string {
  const status = partOf(object, "status");
  const said = textOf(status, "message") ?? textOf(status, "reason");
  if (said !== undefined && said !== "") return said;
  const ended = listOf(status, "containerStatuses").find((container) => exitCodeOf(container) !== 0);
  if (ended === undefined) return "The pod has failed.";
  return `Container ${textOf(ended, "name") ?? ""} exited with code ${String(exitCodeOf(ended))}.`;
}

function exitCodeOf(container: unknown): number {
  const code = fieldOf(fieldOf(fieldOf(container, "state"), "terminated"), "exitCode");
  return typeof code === "number" ? code : 0;
}
