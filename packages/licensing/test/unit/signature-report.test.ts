import type { ClusterLicense } from "@quartermaster/api/licensing";
import type { Live } from "@quartermaster/runtime";
import { expect, test } from "vitest";

import { signatureReport, type SignatureSeen } from "../../src/cluster-license/signature-report.ts";
import { aCluster } from "../support/license-objects.ts";

function license(status: object = {}): Live<ClusterLicense> {
  return {
    metadata: { name: "gold", namespace: "team" },
    spec: { uid: "g1" },
    status,
  } as unknown as Live<ClusterLicense>;
}

const base: SignatureSeen = { license: license(), users: [], isPoolCopy: false, hasVendorKey: false };
const missing = aCluster("logs", {
  license: { state: "Pending", reason: "SignatureMissing", message: "Secret gold-signature does not exist." },
});
const applied = aCluster("logs", { license: { uid: "g1", state: "Applied" } });
const rejected = aCluster("logs", {
  license: { state: "Rejected", rejected: [{ uid: "g1", reason: "RejectedByCluster" }] },
});
const notAllowed = aCluster("logs", {
  license: { state: "Rejected", rejected: [{ uid: "g1", reason: "UploadTypeNotAllowed" }] },
});

test.each<{
  readonly name: string;
  readonly given: Partial<SignatureSeen>;
  readonly want: readonly string[];
}>([
  { name: "that no one needs", given: {}, want: ["Unknown/NotYetRead", "Unknown/NoKeyConfigured"] },
  {
    name: "that a cluster is to get and has not read",
    given: { users: [aCluster("logs")] },
    want: ["Unknown/NotYetRead", "Unknown/NoKeyConfigured"],
  },
  {
    name: "whose Secret is missing",
    given: { users: [missing] },
    want: ["False/SignatureMissing", "False/SignatureMissing"],
  },
  { name: "under which an engine runs", given: { users: [applied] }, want: ["True/Valid", "True/Valid"] },
  {
    name: "that an engine called invalid",
    given: { users: [rejected] },
    want: ["True/Valid", "False/SignatureInvalid"],
  },
  {
    name: "that a cluster does not take for its type",
    given: { users: [notAllowed] },
    want: ["Unknown/NotYetRead", "Unknown/NoKeyConfigured"],
  },
  {
    name: "copied from the pool without a key",
    given: { isPoolCopy: true },
    want: ["True/Valid", "Unknown/NoKeyConfigured"],
  },
  {
    name: "copied from the pool with a key",
    given: { isPoolCopy: true, hasVendorKey: true },
    want: ["True/Valid", "True/Valid"],
  },
])("the signature of a license $name", ({ given, want }) => {
  const { conditions } = signatureReport({ ...base, ...given });
  expect(conditions.map(({ status, reason }) => `${status}/${reason}`)).toEqual(want);
});

test("a signature that turns out wrong is told once", () => {
  const seen = { ...base, users: [rejected] };
  const { events, conditions } = signatureReport(seen);
  expect(events.map(({ reason }) => reason)).toEqual(["SignatureInvalid"]);
  expect(signatureReport({ ...seen, license: license({ conditions }) }).events).toEqual([]);
});
