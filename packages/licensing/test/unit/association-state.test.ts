import type { ElasticsearchCluster } from "@quartermaster/api";
import type { ClusterLicense, LicenseAssociation } from "@quartermaster/api/licensing";
import { dayMs, licenseParameters } from "@quartermaster/license-selection";
import type { Live } from "@quartermaster/runtime";
import { expect, test } from "vitest";

import {
  associationEvents,
  type AssociationSeen,
  associationState,
  type AssociationState,
} from "../../src/association/association-state.ts";

const nowMs = Date.UTC(2025, 5, 1);

function current(name: string, type: string, daysLeft = 300): Live<ClusterLicense> {
  return {
    metadata: { name, namespace: "team" },
    spec: { uid: `${name}-uid`, type, issueDate: nowMs - 100 * dayMs, expiryDate: nowMs + daysLeft * dayMs },
  } as unknown as Live<ClusterLicense>;
}

function cluster(license?: object, annotations = {}): Live<ElasticsearchCluster> {
  return {
    metadata: { name: "logs", namespace: "team", annotations },
    spec: { general: { version: "8.19.0" }, nodePools: [{ replicas: 5 }] },
    status: { engine: { transportTls: true }, ...(license === undefined ? {} : { license }) },
  } as unknown as Live<ElasticsearchCluster>;
}

const association = (uid?: string): Live<LicenseAssociation> =>
  ({
    metadata: { name: "a", namespace: "team" },
    spec: {
      clusterRef: { name: "logs" },
      licenseRef: { name: "gold", ...(uid === undefined ? {} : { uid }) },
    },
  }) as unknown as Live<LicenseAssociation>;

const gold = current("gold", "gold");
const platinum = current("platinum", "platinum");
const underPlatinum = { uid: "platinum-uid", type: "platinum", state: "Applied" };
const base: AssociationSeen = {
  association: association(),
  cluster: cluster(),
  license: gold,
  rivals: [gold],
  pinned: new Set(),
};

test.each<{ readonly name: string; readonly given: Partial<AssociationSeen>; readonly want: object }>([
  {
    name: "[licensing/A7][security/57] a cluster that is not in the namespace",
    given: { cluster: undefined },
    want: { state: "Released", reason: "ClusterNotFound" },
  },
  {
    name: "[licensing/A6] a missing license",
    given: { license: undefined },
    want: { state: "Rejected", reason: "LicenseNotFound" },
  },
  {
    name: "a license with another uid",
    given: { association: association("old") },
    want: { state: "Pending", reason: "UidMismatch" },
  },
  { name: "chosen and not yet applied", given: {}, want: { state: "Pending", reason: "NotYetApplied" } },
  {
    name: "applied",
    given: { cluster: cluster({ uid: "gold-uid", type: "gold", state: "Applied" }) },
    want: { state: "Applied" },
  },
  {
    name: "applied to more nodes than its license covers",
    given: {
      license: { ...gold, spec: { ...gold.spec, maxNodes: 4 } },
      cluster: cluster({ uid: "gold-uid", type: "gold", state: "Applied" }),
    },
    want: {
      state: "Applied",
      reason: "MaxNodesExceeded",
      message: "The engine runs under license gold-uid, which covers 4 nodes; the cluster has 5.",
    },
  },
  {
    name: "refused by the engine",
    given: { cluster: cluster({ state: "Rejected", rejected: [{ uid: "gold-uid", reason: "invalid" }] }) },
    want: {
      state: "Rejected",
      reason: "RejectedByCluster",
      message: "The engine refused license gold-uid: invalid.",
    },
  },
  {
    name: "refused by the engine after two others",
    given: {
      cluster: cluster({
        state: "Rejected",
        rejected: [{ uid: "a" }, { uid: "b" }, { uid: "gold-uid", reason: "invalid" }],
      }),
    },
    want: { state: "Rejected", message: "The engine refused license gold-uid: invalid." },
  },
  {
    name: "while the engine refused two others",
    given: { cluster: cluster({ state: "Rejected", rejected: [{ uid: "a" }, { uid: "b" }] }) },
    want: { state: "Pending", reason: "NotYetApplied" },
  },
  {
    name: "applied to exactly as many nodes as it covers",
    given: {
      cluster: cluster({ uid: "gold-uid", type: "gold", state: "Applied" }),
      license: { ...gold, spec: { ...gold.spec, maxNodes: 5 } },
    },
    want: { state: "Applied", reason: "LicenseApplied" },
  },
  {
    name: "beside a better one",
    given: { cluster: cluster(underPlatinum), rivals: [gold, platinum] },
    want: {
      state: "Superseded",
      reason: "Superseded",
      message: "The cluster runs under license platinum-uid (LowerType).",
    },
  },
  {
    name: "[licensing/A3] pinned beside a better one that is applied",
    given: { cluster: cluster(underPlatinum), rivals: [gold, platinum], pinned: new Set(["gold"]) },
    want: { state: "Superseded", reason: "DowngradeBlocked" },
  },
  {
    name: "pinned, and the change is permitted",
    given: {
      cluster: cluster(underPlatinum, { "license.k8s.elastic.co/allow-downgrade": "true" }),
      rivals: [gold, platinum],
      pinned: new Set(["gold"]),
    },
    want: { state: "Pending", reason: "NotYetApplied" },
  },
  {
    name: "expired",
    given: { license: current("gold", "gold", -1), rivals: [current("gold", "gold", -1)] },
    want: { state: "Rejected", reason: "Expired" },
  },
])("$name: how an association stands", ({ given, want }) => {
  expect(associationState({ ...base, ...given }, nowMs, licenseParameters)).toMatchObject(want);
});

const appliedState = { state: "Applied", reason: "LicenseApplied", message: "" } as const;
const tooLarge = { ...appliedState, reason: "MaxNodesExceeded" } as const;

test.each<{
  readonly name: string;
  readonly before: LicenseAssociation["status"];
  readonly now: AssociationState;
  readonly want: readonly string[];
}>([
  { name: "first applied", before: undefined, now: appliedState, want: ["LicenseApplied"] },
  { name: "still applied", before: { ...appliedState, appliedUid: "u" }, now: appliedState, want: [] },
  {
    name: "another one applied",
    before: { ...appliedState, appliedUid: "old" },
    now: appliedState,
    want: ["LicenseSwitched"],
  },
  {
    name: "applied to too many nodes at once",
    before: undefined,
    now: tooLarge,
    want: ["LicenseApplied", "MaxNodesExceeded"],
  },
  {
    name: "grown beyond the license",
    before: { ...appliedState, appliedUid: "u" },
    now: tooLarge,
    want: ["MaxNodesExceeded"],
  },
  { name: "still too large", before: { ...tooLarge, appliedUid: "u" }, now: tooLarge, want: [] },
  { name: "shrunk again", before: { ...tooLarge, appliedUid: "u" }, now: appliedState, want: [] },
  {
    name: "superseded",
    before: undefined,
    now: { state: "Superseded", reason: "Superseded", message: "" },
    want: ["LicenseConflict"],
  },
])("events of an association: $name", ({ before, now, want }) => {
  expect(associationEvents(before, now, "u").map(({ reason }) => reason)).toEqual(want);
});
