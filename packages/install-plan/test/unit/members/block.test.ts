import { describe, expect, test } from "vitest";

import { judgeNamespace, type NamespaceFacts } from "../../../src/members/block.ts";

const first = { uid: "1", isTerminating: false };
const second = { uid: "2", isTerminating: false };

interface Row {
  readonly name: string;
  readonly given: Omit<NamespaceFacts, "name">;
  /** Reason of the block, and the uid that is meant afterwards. */
  readonly want: readonly [reason: string | undefined, pin: string | undefined];
}

const rows: readonly Row[] = [
  {
    name: "before the start the one that is there is meant",
    given: { progress: "notStarted", home: first },
    want: [undefined, "1"],
  },
  {
    name: "before the start a new one takes the place of an old one",
    given: { progress: "notStarted", home: second, pinnedUid: "1" },
    want: [undefined, "2"],
  },
  {
    name: "before the start one that has gone is forgotten",
    given: { progress: "notStarted", pinnedUid: "1" },
    want: ["WaitingForNamespace", undefined],
  },
  {
    name: "one that is being deleted is waited for",
    given: { progress: "started", home: { uid: "1", isTerminating: true }, pinnedUid: "1" },
    want: ["WaitingForNamespace", "1"],
  },
  {
    name: "after the start one that has gone is still the one that is meant",
    given: { progress: "started", pinnedUid: "1" },
    want: ["WaitingForNamespace", "1"],
  },
  {
    name: "after the start the first one that is seen is meant",
    given: { progress: "started", home: first },
    want: [undefined, "1"],
  },
  {
    name: "after the start the same one stays meant",
    given: { progress: "started", home: first, pinnedUid: "1" },
    want: [undefined, "1"],
  },
  {
    name: "after the start one that another client made is not written into",
    given: { progress: "started", home: second, pinnedUid: "1" },
    want: ["NamespaceReplaced", "1"],
  },
  {
    name: "nor where the plan had made the one before",
    given: { progress: "started", home: second, pinnedUid: "1", ownUid: "1" },
    want: ["NamespaceReplaced", "1"],
  },
  {
    name: "one that the plan made itself is meant, also right after a crash",
    given: { progress: "started", home: second, pinnedUid: "1", ownUid: "2" },
    want: [undefined, "2"],
  },
  {
    name: "once installed any is",
    given: { progress: "installed", home: second, pinnedUid: "1" },
    want: [undefined, "2"],
  },
];

describe("whether a plan may write into a namespace", () => {
  test.each(rows)("$name", ({ given, want }) => {
    const { block, pin } = judgeNamespace({ name: "x", ...given });
    expect([block?.reason, pin]).toEqual(want);
  });
});
