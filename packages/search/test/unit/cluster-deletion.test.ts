import { firstDecision } from "@quartermaster/runtime";
import { persistentVolumeClaims, pods, statefulSets } from "@quartermaster/runtime/kinds";
import { expect, test } from "vitest";

import { deletionRules, type Left, type LeftObject } from "../../src/deletion/cluster-deletion.ts";
import { aSearchCluster } from "../a-search-cluster.ts";

const set: LeftObject = {
  kind: statefulSets,
  name: "logs-nodes",
  uid: "1",
  resourceVersion: "11",
  isTerminating: false,
};
const pod: LeftObject = {
  kind: pods,
  name: "logs-nodes-0",
  uid: "2",
  resourceVersion: "12",
  isTerminating: false,
};
const claim: LeftObject = {
  kind: persistentVolumeClaims,
  name: "data-logs-nodes-0",
  uid: "3",
  resourceVersion: "13",
  isTerminating: false,
};
const everything: Left = {
  cluster: aSearchCluster(),
  statefulSets: [set],
  pods: [pod],
  kept: [claim],
  isOrphaned: false,
  isNamespaceTerminating: false,
  leftToHeir: undefined,
};
const toDelete = aSearchCluster({ whenDeleted: "Delete" });

test.each([
  ["StatefulSets", everything, set],
  ["claims", { ...everything, statefulSets: [], pods: [], cluster: toDelete }, claim],
])(
  "%s are deleted as they were seen to be the cluster's",
  (_name, left, { kind, name, uid, resourceVersion }) => {
    const { verdict } = firstDecision(deletionRules, left, new Date(0));
    expect(verdict.actions).toEqual([{ kind: "delete", resource: kind, name, uid, resourceVersion }]);
  },
);

test.for<[string, Partial<Left>, string, string, readonly string[]]>([
  ["nodes run", {}, "setsRemain", "waiting", ["delete logs-nodes"]],
  ["nodes are going", { statefulSets: [{ ...set, isTerminating: true }] }, "setsRemain", "waiting", []],
  ["pods are left", { statefulSets: [] }, "podsRemain", "waiting", []],
  [
    "pods are left, volumes are to be deleted",
    { statefulSets: [], cluster: toDelete },
    "podsRemain",
    "waiting",
    [],
  ],
  ["volumes are kept", { statefulSets: [], pods: [] }, "keptRemain", "settled", []],
  [
    "volumes are deleted",
    { statefulSets: [], pods: [], cluster: toDelete },
    "keptRemain",
    "settled",
    ["delete data-logs-nodes-0"],
  ],
  [
    "[security/107] volumes of a protected cluster, whose definition was deleted",
    { statefulSets: [], pods: [], cluster: { ...toDelete, isDeletionProtected: true } },
    "keptRemain",
    "settled",
    [],
  ],
  [
    "volumes are going",
    { statefulSets: [], pods: [], cluster: toDelete, kept: [{ ...claim, isTerminating: true }] },
    "keptRemain",
    "settled",
    [],
  ],
  [
    "the namespace goes",
    { isNamespaceTerminating: true, cluster: toDelete },
    "namespaceTerminating",
    "settled",
    [],
  ],
  [
    "[security/105] superseded, and everything is the other's",
    { leftToHeir: [], cluster: toDelete },
    "superseded",
    "settled",
    [],
  ],
  [
    "[security/105] superseded, and something is left to hand over",
    { leftToHeir: [{ ...set, resourceVersion: "1" }], cluster: toDelete },
    "superseded",
    "waiting",
    [],
  ],
  [
    "[security/105] superseded and orphaned",
    { leftToHeir: [], isOrphaned: true, cluster: toDelete },
    "superseded",
    "settled",
    [],
  ],
  ["orphaned", { isOrphaned: true, cluster: toDelete }, "orphaned", "settled", ["release data-logs-nodes-0"]],
])("%s", ([, changes, rule, outcome, actions]) => {
  const { rule: responded, verdict } = firstDecision(
    deletionRules,
    { ...everything, ...changes },
    new Date(0),
  );
  expect(responded.name).toBe(rule);
  expect(verdict.outcome.kind).toBe(outcome);
  expect(
    verdict.actions.map((action) => ("name" in action ? `${action.kind} ${action.name}` : action.kind)),
  ).toEqual(actions);
});
