import { fieldOf, type KubeObject, listOf, textOf } from "@quartermaster/runtime";

import { containerStates, pullProblems } from "./container-states.ts";
import {
  failed,
  type Health,
  type HealthFacts,
  inProgress,
  type KindRule,
  ready,
  suspended,
  until,
} from "./health.ts";
import {
  conditionOf,
  countOf,
  numberOr,
  observedGeneration,
  partOf,
  trueCondition,
  wantedReplicas,
  conditionText,
} from "./read-conditions.ts";

/** How the controllers of the group `apps` report that they are done. */
export const workloadRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([
  ["apps/Deployment", deployment],
  ["apps/StatefulSet", statefulSet],
  ["apps/DaemonSet", daemonSet],
  ["apps/ReplicaSet", replicaSet],
]);

/** Reason of a workload whose pods the server refuses, e.g. because of a quota. */
export const podsRefused = "ReplicaFailure";

/** Value that the API server stores for "no deadline". */
const noDeadline = 2_147_483_647;

function deployment(object: KubeObject): Health {
  if (partOf(object, "spec", "paused") === true) return suspended("The rollout is paused.");
  const progressing = conditionOf(object, "Progressing");
  const failure = trueCondition(object, "ReplicaFailure");
  if (progressing?.reason === "ProgressDeadlineExceeded") {
    // Why pods are refused, e.g. a quota, says more than that time has passed.
    return failed(
      progressing.reason,
      conditionText(failure ?? progressing, "The rollout made no progress in time."),
    );
  }
  if (failure !== undefined)
    return inProgress(podsRefused, conditionText(failure, "Pods cannot be created."));
  if (wantedReplicas(object) === 0) return scaledToNothing(object);
  return missingReplicas(object) ?? missingCondition(object) ?? ready("All replicas are available.");
}

function scaledToNothing(object: KubeObject): Health {
  if (observedGeneration(object) === undefined) return notObserved();
  const left = countOf(object, "replicas");
  if (left > 0) return inProgress("ReplicasLeaving", `${left} replicas are still terminating.`);
  return ready("Scaled to zero replicas.");
}

function missingReplicas(object: KubeObject): Health | undefined {
  const wanted = wantedReplicas(object);
  const updated = countOf(object, "updatedReplicas");
  return (
    firstShort([
      { have: countOf(object, "replicas"), want: wanted, what: "replicas made" },
      { have: updated, want: wanted, what: "replicas updated" },
    ]) ??
    oldReplicas(object) ??
    firstShort([
      { have: countOf(object, "availableReplicas"), want: updated, what: "updated replicas available" },
      { have: countOf(object, "readyReplicas"), want: wanted, what: "replicas ready" },
    ])
  );
}

/** Old replicas stay until new ones are available: then those are what is waited for. */
function oldReplicas(object: KubeObject): Health | undefined {
  const made = countOf(object, "replicas");
  const left = made - wantedReplicas(object);
  if (left <= 0) return undefined;
  const unavailable = countOf(object, "unavailableReplicas");
  const message =
    unavailable === 0
      ? `Old replicas still terminating: ${left}.`
      : `${made - unavailable} of ${made} replicas available; old replicas that stay until new ones are available: ${left}.`;
  return inProgress("ReplicasMissing", message);
}

function missingCondition(object: KubeObject): Health | undefined {
  const deadline = numberOr(partOf(object, "spec", "progressDeadlineSeconds"), noDeadline);
  const progressing = trueCondition(object, "Progressing");
  if (deadline !== noDeadline && progressing?.reason !== "NewReplicaSetAvailable") {
    return inProgress("RollingOut", "The new ReplicaSet is not available yet.");
  }
  if (trueCondition(object, "Available") !== undefined) return undefined;
  return inProgress("NotAvailable", "Not enough replicas are available.");
}

function statefulSet(object: KubeObject): Health {
  if (observedGeneration(object) === undefined) return notObserved();
  if (partOf(object, "spec", "updateStrategy", "type") === "OnDelete") {
    return ready("Pods are updated when they are deleted.");
  }
  const wanted = wantedReplicas(object);
  const made = countOf(object, "replicas");
  const partition = numberOr(partOf(object, "spec", "updateStrategy", "rollingUpdate", "partition"), 0);
  return (
    firstShort([
      { have: made, want: wanted, what: "replicas made" },
      { have: countOf(object, "readyReplicas"), want: wanted, what: "replicas ready" },
      { have: wanted, want: made, what: "surplus replicas are deleted" },
      { have: countOf(object, "updatedReplicas"), want: wanted - partition, what: "replicas updated" },
    ]) ??
    (partition > 0 ? undefined : oldRevision(object)) ??
    ready("All replicas are ready.")
  );
}

function oldRevision(object: KubeObject): Health | undefined {
  const shortOfCurrent = firstShort([
    { have: countOf(object, "currentReplicas"), want: wantedReplicas(object), what: "replicas current" },
  ]);
  if (shortOfCurrent !== undefined) return shortOfCurrent;
  const isOld = partOf(object, "status", "currentRevision") !== partOf(object, "status", "updateRevision");
  return isOld ? inProgress("RollingOut", "Pods of the old revision are still in place.") : undefined;
}

function daemonSet(object: KubeObject): Health {
  if (observedGeneration(object) === undefined) return notObserved();
  if (partOf(object, "status", "desiredNumberScheduled") === undefined) {
    return inProgress("NotScheduled", "The number of nodes is not known yet.");
  }
  const want = countOf(object, "desiredNumberScheduled");
  const isOnDelete = partOf(object, "spec", "updateStrategy", "type") === "OnDelete";
  const updated = { have: countOf(object, "updatedNumberScheduled"), want, what: "pods updated" };
  return (
    firstShort([
      { have: countOf(object, "currentNumberScheduled"), want, what: "pods scheduled" },
      ...(isOnDelete ? [] : [updated]),
      { have: countOf(object, "numberAvailable"), want, what: "pods available" },
      { have: countOf(object, "numberReady"), want, what: "pods ready" },
    ]) ?? ready("All nodes run their pod.")
  );
}

function replicaSet(object: KubeObject): Health {
  const failure = trueCondition(object, "ReplicaFailure");
  if (failure !== undefined)
    return inProgress(podsRefused, conditionText(failure, "Pods cannot be created."));
  const wanted = wantedReplicas(object);
  return (
    firstShort([
      { have: countOf(object, "fullyLabeledReplicas"), want: wanted, what: "replicas labelled" },
      { have: countOf(object, "availableReplicas"), want: wanted, what: "replicas available" },
      { have: countOf(object, "readyReplicas"), want: wanted, what: "replicas ready" },
      { have: wanted, want: countOf(object, "replicas"), what: "surplus replicas are deleted" },
    ]) ?? ready("All replicas are available.")
  );
}

interface Tally {
  readonly have: number;
  readonly want: number;
  readonly what: string;
}

function firstShort(tallies: readonly Tally[]): Health | undefined {
  const short = tallies.find(({ have, want }) => have < want);
  if (short === undefined) return undefined;
  return inProgress("ReplicasMissing", `${short.have} of ${short.want} ${short.what}.`);
}

function notObserved(): Health {
  return inProgress("NotObserved", "Its controller has not observed it yet.");
}

/** Pods that are in a plan on their own. */
export const podRules: ReadonlyMap<string, KindRule> = new Map<string, KindRule>([["/Pod", pod]]);

/** A scheduler needs some time; after this the pod does not fit on any node. */
const unschedulableAfterMs = 15_000;
/** A registry may be slow or the pull secret late; after this the image is wrong. */
const pullFailsAfterMs = 60_000;

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
  const text = conditionText(scheduled, "The pod does not fit on any node.");
  return until(unschedulableAfterMs, stateAgeMs, [
    inProgress("Unschedulable", text),
    failed("Unschedulable", text),
  ]);
}

/** Our own words: those of the kubelet count seconds. */
function brokenContainer(object: KubeObject, { stateAgeMs }: HealthFacts): Health | undefined {
  const containers = containerStates(object);
  const crashing = containers.find(({ waiting }) => waiting === "CrashLoopBackOff");
  if (crashing !== undefined && partOf(object, "status", "phase") === "Running") {
    return failed("CrashLoopBackOff", `Container ${crashing.name} keeps crashing; check its logs.`);
  }
  const pulling = containers.find(({ waiting }) => pullProblems.has(waiting));
  if (pulling === undefined) return undefined;
  const text = `The image of container ${pulling.name} cannot be pulled.`;
  return until(pullFailsAfterMs, stateAgeMs, [
    inProgress(pulling.waiting, text),
    failed(pulling.waiting, text),
  ]);
}

function failureOf(object: KubeObject): string {
  const status = partOf(object, "status");
  const output = textOf(status, "message") ?? textOf(status, "reason");
  if (output !== undefined && output !== "") return output;
  const ended = listOf(status, "containerStatuses").find((container) => exitCodeOf(container) !== 0);
  if (ended === undefined) return "The pod has failed.";
  return `Container ${textOf(ended, "name") ?? ""} exited with code ${String(exitCodeOf(ended))}.`;
}

function exitCodeOf(container: unknown): number {
  const code = fieldOf(fieldOf(fieldOf(container, "state"), "terminated"), "exitCode");
  return typeof code === "number" ? code : 0;
}
