import type { ResourceManifest } from "@quartermaster/api";
import { expect, test } from "vitest";

import { wasOrphaned } from "../../src/deletion/was-orphaned.ts";
import { aPlan } from "../support/plans.ts";

const startedAt = "2026-01-01T00:00:10Z";
const deleted = { deletionTimestamp: "2026-01-02T00:00:00Z" };

function manifest(owner: string | undefined, creationTimestamp = "2026-01-01T00:00:00Z"): ResourceManifest {
  const ownerReferences =
    owner === undefined ? [] : [{ apiVersion: "v1", kind: "InstallPlan", name: "p", uid: owner }];
  return { metadata: { name: "rm", creationTimestamp, ownerReferences } } as unknown as ResourceManifest;
}

const { uid = "" } = aPlan("p").metadata;

test.each([
  {
    name: "every manifest has lost its owner",
    manifests: [manifest(undefined), manifest("other")],
    want: true,
  },
  { name: "a manifest still has its owner", manifests: [manifest(undefined), manifest(uid)], want: false },
  { name: "there is no manifest", manifests: [], want: false },
  {
    name: "a manifest was made after the start",
    manifests: [manifest(undefined, deleted.deletionTimestamp)],
    want: false,
  },
  { name: "the plan is not being deleted", manifests: [manifest(undefined)], metadata: {}, want: false },
  { name: "the plan has not started", manifests: [manifest(undefined)], status: {}, want: false },
])(
  "a request to orphan is recognized afterwards: $name",
  ({ manifests, want, metadata = deleted, status = { startedAt } }) => {
    const plan = aPlan("p", { status });
    expect(wasOrphaned({ ...plan, metadata: { ...plan.metadata, ...metadata } }, manifests)).toBe(want);
  },
);
