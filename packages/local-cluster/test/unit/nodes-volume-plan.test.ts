import { describe, expect, test } from "vitest";

import {
  type Claim,
  desiredVolume,
  planVolumes,
  PROVISIONER,
  STORAGE_CLASS,
  type Volume,
} from "../../src/nodes/provision-volumes.ts";

const SELECTED = { "volume.kubernetes.io/selected-node": "node-1" };

function claim(change: { metadata?: Partial<Claim["metadata"]>; spec?: Partial<Claim["spec"]> } = {}): Claim {
  return {
    metadata: { name: "data", namespace: "default", uid: "u1", annotations: SELECTED, ...change.metadata },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: STORAGE_CLASS,
      resources: { requests: { storage: "1Gi" } },
      ...change.spec,
    },
  };
}

function volume(change: Partial<Volume> = {}): Volume {
  return {
    metadata: { name: "pvc-u1", annotations: { "pv.kubernetes.io/provisioned-by": PROVISIONER } },
    spec: { persistentVolumeReclaimPolicy: "Delete", local: { path: "/c/nodes/node-1/volumes/pvc-u1" } },
    status: { phase: "Released" },
    ...change,
  };
}

describe("a volume is made for", () => {
  const cases: readonly { name: string; given: Claim; existing?: readonly Volume[]; want: number }[] = [
    { name: "a claim whose pod has a node", given: claim(), want: 1 },
    { name: "no claim whose pod has none yet", given: claim({ metadata: { annotations: {} } }), want: 0 },
    { name: "no claim that has its volume", given: claim({ spec: { volumeName: "pvc-u1" } }), want: 0 },
    {
      name: "no claim whose volume was made just now",
      given: claim(),
      existing: [volume({ status: {} })],
      want: 0,
    },
    { name: "no claim of another class", given: claim({ spec: { storageClassName: "fast" } }), want: 0 },
    {
      name: "no claim that is being deleted",
      given: claim({ metadata: { deletionTimestamp: "now" } }),
      want: 0,
    },
    { name: "no claim of a raw device", given: claim({ spec: { volumeMode: "Block" } }), want: 0 },
  ];

  test.each(cases)("$name", ({ given, existing = [], want }) => {
    expect(planVolumes([given], existing).make).toHaveLength(want);
  });

  test("the claim it was made for and no other, on the node of its pod", () => {
    const [made] = planVolumes([claim()], []).make;
    expect(made && desiredVolume(made, "/data")).toMatchObject({
      spec: {
        claimRef: { namespace: "default", name: "data", uid: "u1" },
        capacity: { storage: "1Gi" },
        local: { path: "/data" },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ values: ["node-1"] }] }] } },
      },
    });
  });
});

describe("a volume is removed", () => {
  const cases: readonly { name: string; given: Volume; want: number }[] = [
    { name: "when its claim no longer exists", given: volume(), want: 1 },
    { name: "not while it is bound", given: volume({ status: { phase: "Bound" } }), want: 0 },
    {
      name: "not when it is to be kept",
      given: volume({ spec: { persistentVolumeReclaimPolicy: "Retain" } }),
      want: 0,
    },
    { name: "not when it is another client's", given: volume({ metadata: { name: "pvc-u1" } }), want: 0 },
  ];

  test.each(cases)("$name", ({ given, want }) => {
    expect(planVolumes([], [given]).remove).toHaveLength(want);
  });
});
