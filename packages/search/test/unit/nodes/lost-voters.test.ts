import { expect, test } from "vitest";

import { lostVoters } from "../../../src/repair/quorum-lost.ts";
import { aPod, aVolume } from "../../support/a-seen.ts";

const [held, kept, data] = ["logs-ephemeral-0", "logs-managers-0", "logs-data-0"];

/** One voter on an emptyDir, one on a volume, and a node without a vote. */
const nodes = [
  { name: held, roles: [], voter: true, podUid: `uid-${held}` },
  { name: kept, roles: [], voter: true, podUid: `uid-${kept}`, pvcUid: `pvc-${kept}` },
  { name: data, roles: [], voter: false, podUid: `uid-${data}`, pvcUid: `pvc-${data}` },
];
const pods = [held, kept, data].map((name) => aPod(name));
const volumes = [kept, data].map((name) => aVolume(name));

function replaced<T extends { readonly uid: string }>(
  all: readonly T[],
  isIt: (each: T) => boolean,
): readonly T[] {
  return all.map((each) => (isIt(each) ? { ...each, uid: "another" } : each));
}

test.each([
  { name: "everything is there", given: { pods, volumes }, want: [] },
  {
    name: "another pod with an emptyDir has another disk",
    given: { pods: replaced(pods, ({ name }) => name === held), volumes },
    want: [held],
  },
  {
    name: "a pod with an emptyDir that is not there has none",
    given: { pods: pods.filter(({ name }) => name !== held), volumes },
    want: [held],
  },
  {
    name: "another pod on the same volume has the same disk",
    given: { pods: replaced(pods, ({ name }) => name === kept), volumes },
    want: [],
  },
  {
    name: "the same pod name on another volume has another disk",
    given: { pods, volumes: replaced(volumes, ({ node }) => node === kept) },
    want: [kept],
  },
  { name: "no volume, no disk", given: { pods, volumes: [] }, want: [kept] },
  {
    name: "a node without a vote does not count",
    given: {
      pods: replaced(pods, ({ name }) => name === data),
      volumes: replaced(volumes, ({ node }) => node === data),
    },
    want: [],
  },
])("$name", ({ given, want }) => {
  expect(lostVoters({ ...given, status: { nodes } })).toEqual({ voters: [held, kept], lost: want });
});
