import type { KubeObject } from "@quartermaster/runtime";
import { statefulSets } from "@quartermaster/runtime/kinds";
import { describe, expect, test } from "vitest";

import { inheritChildren } from "../../src/handover/inherit-children.ts";
import { belongsTo, type Predecessor } from "../../src/handover/predecessor.ts";
import { ownerLabels } from "../../src/owner-labels.ts";
import type { Seen } from "../../src/seen.ts";
import { aSearchCluster } from "../a-search-cluster.ts";
import { aSeen } from "../support/a-seen.ts";

const now = new Date("2026-11-18T10:00:00Z");
const owner: KubeObject = { apiVersion: "v1", kind: "C", metadata: { name: "logs", uid: "older" } };

function child(labelUid: string | undefined, controllerUid: string | undefined): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "x",
      ...(labelUid === undefined ? {} : { labels: { [ownerLabels.uid]: labelUid } }),
      ...(controllerUid === undefined
        ? {}
        : {
            ownerReferences: [
              { apiVersion: "v1", kind: "C", name: "logs", uid: controllerUid, controller: true },
            ],
          }),
    },
  };
}

describe("[security/105] what belongs to an object", () => {
  test.for<[string, KubeObject, boolean]>([
    ["controlled by it", child(undefined, "older"), true],
    ["controlled by it, with the label of another", child("newer", "older"), true],
    [
      "its label, and no controller: a claim, a password, or released by an orphan deletion",
      child("older", undefined),
      true,
    ],
    ["its label, but another controls it", child("older", "newer"), false],
    ["another's label", child("newer", undefined), false],
    ["nothing", child(undefined, undefined), false],
  ])("%s", ([, live, want]) => {
    expect(belongsTo(live, owner)).toBe(want);
  });
});

const set = {
  kind: statefulSets,
  name: "logs-nodes",
  uid: "s",
  resourceVersion: "1",
  isTerminating: false,
} as const;
const older: Predecessor = {
  uid: "older",
  status: { bootstrap: { mode: "Found" }, clusterUuid: "U", version: "2.19.4", observedGeneration: 7 },
  isDeletionProtected: false,
  left: [set],
};

describe("[security/105] how a cluster is taken over", () => {
  const unprotected = aSearchCluster({ isDeletionProtected: false });
  test.for<[string, Partial<Seen>, string | undefined, readonly string[]]>([
    ["no one was there before", {}, undefined, []],
    [
      "the predecessor never had anything",
      { predecessor: { ...older, status: {}, left: [] } },
      undefined,
      [],
    ],
    ["first what was decided", { predecessor: older }, "waiting", []],
    [
      "then the objects",
      { predecessor: older, status: { clusterUuid: "U" } },
      "waiting",
      ["inherit logs-nodes from older"],
    ],
    [
      "objects without a decision",
      { predecessor: { ...older, status: {} } },
      "waiting",
      ["inherit logs-nodes from older"],
    ],
    [
      "objects that are being deleted are waited for",
      { predecessor: { ...older, left: [{ ...set, isTerminating: true }] }, status: { clusterUuid: "U" } },
      "waiting",
      [],
    ],
    ["all done", { predecessor: { ...older, left: [] }, status: { clusterUuid: "U" } }, undefined, []],
    [
      "not out of protection",
      { predecessor: { ...older, isDeletionProtected: true }, cluster: unprotected },
      "stalled",
      [],
    ],
    [
      "from protection into protection",
      {
        predecessor: { ...older, isDeletionProtected: true },
        cluster: { ...unprotected, isDeletionProtected: true },
        status: { clusterUuid: "U" },
      },
      "waiting",
      ["inherit logs-nodes from older"],
    ],
  ])("%s", ([, changes, outcome, actions]) => {
    const verdict = inheritChildren.decide(aSeen(changes), now);
    expect(verdict?.outcome.kind).toBe(outcome);
    expect(
      (verdict?.actions ?? []).map((action) =>
        action.kind === "inherit" ? `inherit ${action.name} from ${action.from}` : action.kind,
      ),
    ).toEqual(actions);
  });

  test("version, UUID and founding go along: nothing is decided a second time", () => {
    expect(inheritChildren.decide(aSeen({ predecessor: older }), now)?.status).toEqual({
      bootstrap: { mode: "Found" },
      clusterUuid: "U",
      version: "2.19.4",
    });
  });
});
