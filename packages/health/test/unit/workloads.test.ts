import type { KubeObject } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { healthOf, type HealthState } from "../../src/index.ts";

interface Row {
  readonly name: string;
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly want: readonly [HealthState, string];
}

function judge(kind: string, { spec, status }: Row): readonly [HealthState, string] {
  const metadata = { name: "shop", namespace: "default", generation: 2 };
  const object = { apiVersion: "apps/v1", kind, metadata, spec, status } as KubeObject;
  const { state, reason } = healthOf(object, { readiness: { mode: "Default" }, stateAgeMs: 0 });
  return [state, reason];
}

const rolledOut = {
  observedGeneration: 2,
  replicas: 3,
  updatedReplicas: 3,
  availableReplicas: 3,
  readyReplicas: 3,
  conditions: [
    { type: "Available", status: "True" },
    { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" },
  ],
};
const three = { replicas: 3, progressDeadlineSeconds: 600 };
const available = rolledOut.conditions.slice(0, 1);

describe("a Deployment", () => {
  test.each<Row>([
    { name: "all there", spec: three, status: rolledOut, want: ["Ready", "Ready"] },
    { name: "paused", spec: { ...three, paused: true }, status: {}, want: ["Suspended", "Suspended"] },
    {
      name: "deadline passed",
      spec: three,
      status: { conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }] },
      want: ["Failed", "ProgressDeadlineExceeded"],
    },
    {
      name: "pods refused",
      spec: three,
      status: { ...rolledOut, conditions: [{ type: "ReplicaFailure", status: "True", message: "quota" }] },
      want: ["InProgress", "ReplicaFailure"],
    },
    { name: "no status", spec: three, want: ["InProgress", "ReplicasMissing"] },
    { name: "one replica by default", spec: {}, status: {}, want: ["InProgress", "ReplicasMissing"] },
    {
      name: "too few made",
      spec: three,
      status: { ...rolledOut, replicas: 2 },
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "too few updated",
      spec: three,
      status: { ...rolledOut, updatedReplicas: 1 },
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "old pods left",
      spec: three,
      status: { ...rolledOut, replicas: 4 },
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "too few available",
      spec: three,
      status: { ...rolledOut, availableReplicas: 2 },
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "too few ready",
      spec: three,
      status: { ...rolledOut, readyReplicas: 2 },
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "new ReplicaSet not reported",
      spec: three,
      status: { ...rolledOut, conditions: available },
      want: ["InProgress", "RollingOut"],
    },
    {
      name: "no deadline, so no report",
      spec: { replicas: 3 },
      status: { ...rolledOut, conditions: available },
      want: ["Ready", "Ready"],
    },
    {
      name: "largest deadline is none",
      spec: { replicas: 3, progressDeadlineSeconds: 2_147_483_647 },
      status: { ...rolledOut, conditions: available },
      want: ["Ready", "Ready"],
    },
    {
      name: "not available",
      spec: three,
      status: { ...rolledOut, conditions: rolledOut.conditions.slice(1) },
      want: ["InProgress", "NotAvailable"],
    },
    {
      name: "no replicas wanted, not seen",
      spec: { replicas: 0 },
      status: {},
      want: ["InProgress", "NotObserved"],
    },
    {
      name: "no replicas wanted, some left",
      spec: { replicas: 0 },
      status: rolledOut,
      want: ["InProgress", "ReplicasLeaving"],
    },
    {
      name: "no replicas wanted, none left",
      spec: { replicas: 0 },
      status: { observedGeneration: 2 },
      want: ["Ready", "Ready"],
    },
  ])("$name", (row) => {
    expect(judge("Deployment", row)).toEqual(row.want);
  });
});

const allOfSet = {
  observedGeneration: 2,
  replicas: 3,
  readyReplicas: 3,
  updatedReplicas: 3,
  currentReplicas: 3,
  currentRevision: "b",
  updateRevision: "b",
};

describe("a StatefulSet", () => {
  test.each<Row>([
    { name: "all there", spec: { replicas: 3 }, status: allOfSet, want: ["Ready", "Ready"] },
    { name: "not seen", spec: { replicas: 3 }, status: {}, want: ["InProgress", "NotObserved"] },
    {
      name: "updated on delete",
      spec: { replicas: 3, updateStrategy: { type: "OnDelete" } },
      status: { observedGeneration: 2 },
      want: ["Ready", "Ready"],
    },
    {
      name: "too few made",
      spec: { replicas: 4 },
      status: allOfSet,
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "too few ready",
      spec: { replicas: 3 },
      status: { ...allOfSet, readyReplicas: 2 },
      want: ["InProgress", "ReplicasMissing"],
    },
    { name: "too many", spec: { replicas: 2 }, status: allOfSet, want: ["InProgress", "ReplicasMissing"] },
    {
      name: "too few updated",
      spec: { replicas: 3 },
      status: { ...allOfSet, updatedReplicas: 2 },
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "partition reached",
      spec: partitioned(2),
      status: { ...allOfSet, updatedReplicas: 1, currentRevision: "a" },
      want: ["Ready", "Ready"],
    },
    {
      name: "partition of one reached",
      spec: partitioned(1),
      status: { ...allOfSet, updatedReplicas: 2, currentRevision: "a" },
      want: ["Ready", "Ready"],
    },
    {
      name: "partition not reached",
      spec: partitioned(1),
      status: { ...allOfSet, updatedReplicas: 1 },
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "partition 0 is none",
      spec: partitioned(0),
      status: { ...allOfSet, updatedReplicas: 2 },
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "not all current",
      spec: { replicas: 3 },
      status: { ...allOfSet, currentReplicas: 1 },
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "revisions differ",
      spec: { replicas: 3 },
      status: { ...allOfSet, currentRevision: "a" },
      want: ["InProgress", "RollingOut"],
    },
  ])("$name", (row) => {
    expect(judge("StatefulSet", row)).toEqual(row.want);
  });
});

function partitioned(partition: number): unknown {
  return { replicas: 3, updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition } } };
}

const everywhere = {
  observedGeneration: 2,
  desiredNumberScheduled: 2,
  currentNumberScheduled: 2,
  updatedNumberScheduled: 2,
  numberAvailable: 2,
  numberReady: 2,
};

describe("a DaemonSet", () => {
  test.each<Row>([
    { name: "on every node", status: everywhere, want: ["Ready", "Ready"] },
    {
      name: "wanted on no node",
      status: { observedGeneration: 2, desiredNumberScheduled: 0 },
      want: ["Ready", "Ready"],
    },
    {
      name: "not seen",
      status: { ...everywhere, observedGeneration: undefined },
      want: ["InProgress", "NotObserved"],
    },
    { name: "nodes not counted", status: { observedGeneration: 2 }, want: ["InProgress", "NotScheduled"] },
    {
      name: "not scheduled",
      status: { ...everywhere, currentNumberScheduled: 1 },
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "not updated",
      status: { ...everywhere, updatedNumberScheduled: 1 },
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "updated on delete",
      spec: { updateStrategy: { type: "OnDelete" } },
      status: { ...everywhere, updatedNumberScheduled: 0 },
      want: ["Ready", "Ready"],
    },
    {
      name: "not available",
      status: { ...everywhere, numberAvailable: 1 },
      want: ["InProgress", "ReplicasMissing"],
    },
    { name: "not ready", status: { ...everywhere, numberReady: 1 }, want: ["InProgress", "ReplicasMissing"] },
  ])("$name", (row) => {
    expect(judge("DaemonSet", row)).toEqual(row.want);
  });
});

const fullSet = { replicas: 2, fullyLabeledReplicas: 2, availableReplicas: 2, readyReplicas: 2 };

describe("a ReplicaSet", () => {
  test.each<Row>([
    { name: "all there", spec: { replicas: 2 }, status: fullSet, want: ["Ready", "Ready"] },
    {
      name: "pods refused",
      spec: { replicas: 2 },
      status: { ...fullSet, conditions: [{ type: "ReplicaFailure", status: "True" }] },
      want: ["InProgress", "ReplicaFailure"],
    },
    {
      name: "not labelled",
      spec: { replicas: 2 },
      status: { ...fullSet, fullyLabeledReplicas: 1 },
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "not available",
      spec: { replicas: 2 },
      status: { ...fullSet, availableReplicas: 1 },
      want: ["InProgress", "ReplicasMissing"],
    },
    {
      name: "not ready",
      spec: { replicas: 2 },
      status: { ...fullSet, readyReplicas: 1 },
      want: ["InProgress", "ReplicasMissing"],
    },
    { name: "too many", spec: { replicas: 1 }, status: fullSet, want: ["InProgress", "ReplicasMissing"] },
  ])("$name", (row) => {
    expect(judge("ReplicaSet", row)).toEqual(row.want);
  });
});
