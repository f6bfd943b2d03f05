import type { ResourceManifest } from "@quartermaster/api";
import { expect, test } from "vitest";

import { wasOrphaned } from "../../../src/deletion/observe-deletion.ts";
import { aPlan } from "../../support/plans.ts";

const startedAt = "2026-01-01T00:00:10Z";
const deleted = { deletionTimestamp: "2026-01-02T00:00:00Z" };

const sha256 = "a".repeat(64);
const object = { apiVersion: "v1", kind: "ConfigMap", name: "c" };
const stages = [{ name: "s", resources: [{ manifestRef: { name: "rm", sha256, object } }] }];

function manifest(
  owner: string | undefined,
  { creationTimestamp = "2026-01-01T00:00:00Z", digest = sha256, name = "rm" } = {},
): ResourceManifest {
  const ownerReferences =
    owner === undefined ? [] : [{ apiVersion: "v1", kind: "InstallPlan", name: "p", uid: owner }];
  const metadata = { name, creationTimestamp, ownerReferences };
  return { metadata, spec: { sha256: digest } } as unknown as ResourceManifest;
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
    manifests: [manifest(undefined, { creationTimestamp: deleted.deletionTimestamp })],
    want: false,
  },
  {
    name: "a manifest has other content",
    manifests: [manifest(undefined, { digest: "b".repeat(64) })],
    want: false,
  },
  { name: "the plan is not being deleted", manifests: [manifest(undefined)], metadata: {}, want: false },
  { name: "the plan has not started", manifests: [manifest(undefined)], status: {}, want: false },
])(
  "a request to orphan is recognized afterwards: $name",
  ({ manifests, want, metadata = deleted, status = { startedAt } }) => {
    const plan = aPlan("p", { status, spec: { stages } });
    expect(wasOrphaned({ ...plan, metadata: { ...plan.metadata, ...metadata } }, manifests)).toBe(want);
  },
);

test.each([1, 2, 3, 4])(
  "of %i manifests in two stages it is enough that any one still has its owner",
  (count) => {
    const names = ["a", "b", "c", "d"].slice(0, count);
    const resourcesOf = (which: readonly string[]): object[] =>
      which.map((name) => ({ manifestRef: { name, sha256, object } }));
    const spec = {
      stages: [
        { name: "first", resources: resourcesOf(names.slice(0, 2)) },
        { name: "second", resources: resourcesOf(names.slice(2)) },
      ],
    };
    const plan = aPlan("p", { status: { startedAt }, spec, metadata: deleted });
    const lost = names.map((name) => manifest(undefined, { name }));
    expect(wasOrphaned(plan, lost)).toBe(true);
    for (const [at, name] of names.entries())
      expect(wasOrphaned(plan, lost.with(at, manifest(uid, { name }))), name).toBe(false);
  },
);
