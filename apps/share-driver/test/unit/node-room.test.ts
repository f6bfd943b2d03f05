import { describe, expect, test } from "vitest";

import { assertNodeRoom, limits, type VolumeUse } from "../../src/volume/node-room.ts";

function volumes(count: number, { uid, namespace, sizeBytes }: Use): readonly VolumeUse[] {
  return Array.from({ length: count }, (_, index) => ({
    pod: { namespace, uid: uid ?? `pod-${index}` },
    sizeBytes,
  }));
}

interface Use {
  readonly uid?: string;
  readonly namespace: string;
  readonly sizeBytes: number;
}

const volume: VolumeUse = { pod: { namespace: "app", uid: "mine" }, sizeBytes: 1 };
const mine = { uid: "mine", namespace: "app", sizeBytes: 1 };

/** Which limit refuses the volume, if any. */
function refusalFor(others: readonly VolumeUse[]): string | undefined {
  try {
    assertNodeRoom(volume, others);
    return undefined;
  } catch (error) {
    return /Share volumes of (.+) are limited/.exec(String(error))?.[1];
  }
}

const cases: readonly {
  readonly name: string;
  readonly others: readonly VolumeUse[];
  readonly want?: string;
}[] = [
  { name: "an empty node", others: [] },
  { name: "the last volume of a pod", others: volumes(limits.pod.volumes - 1, mine) },
  { name: "one volume too many of a pod", others: volumes(limits.pod.volumes, mine), want: "the pod" },
  {
    name: "the last byte of a pod",
    others: volumes(1, { ...mine, sizeBytes: limits.pod.sizeBytes - 1 }),
  },
  {
    name: "one byte too many of a pod",
    others: volumes(1, { ...mine, sizeBytes: limits.pod.sizeBytes }),
    want: "the pod",
  },
  {
    name: "other pods of the namespace below its limit",
    others: volumes(limits.namespace.volumes - 1, { namespace: "app", sizeBytes: 1 }),
  },
  {
    name: "one volume too many of a namespace",
    others: volumes(limits.namespace.volumes, { namespace: "app", sizeBytes: 1 }),
    want: "the namespace on this node",
  },
  {
    name: "a namespace that has used its half, for another namespace",
    others: volumes(limits.namespace.volumes, { namespace: "greedy", sizeBytes: 1 }),
  },
  {
    name: "one byte too many of the node",
    others: volumes(32, { namespace: "other", sizeBytes: limits.node.sizeBytes / 32 }),
    want: "this node",
  },
];

describe("room for a volume", () => {
  test.each(cases)("$name", ({ others, want }) => {
    expect(refusalFor(others)).toEqual(want);
  });
});
