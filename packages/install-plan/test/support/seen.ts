import type { InstallPlan } from "@quartermaster/api";

import { noDrift } from "../../src/drift/drift.ts";
import { identityKey } from "../../src/model/identity.ts";
import type { Member } from "../../src/model/member.ts";
import type { MemberView, Preflight, Seen } from "../../src/seen.ts";
import { aPlan } from "./plans.ts";

/** A member of stage `s` as a view: applied and ready by default. */
export function aView(name: string, more: Partial<MemberView> = {}): MemberView {
  const identity = { apiVersion: "v1", kind: "ConfigMap", namespace: "ns", name };
  const member: Member = {
    stage: "s",
    stageIndex: 0,
    index: 0,
    identity,
    key: identityKey(identity),
    manifest: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "ns" } },
    digest: name,
    lifecycle: aPlan("any").spec.lifecycle,
    readiness: { mode: "Default" },
  };
  const live = { ...member.manifest, metadata: { ...member.manifest.metadata, uid: `uid-${name}` } };
  return { member, live, ownership: { kind: "owned" }, drift: noDrift, state: "Ready", ...more };
}

/** Everything was checked and nothing stands in the way. */
export const clear: Preflight = {
  issues: [],
  missingPermissions: [],
  undecided: [],
  retryAfterMs: 0,
  actions: [],
  adopts: [],
  deletes: [],
  digest: "digest",
  elapsedMs: 0,
};

/** What a reconcile sees of a plan whose only object is applied and ready by default. */
export function aSeen(plan: InstallPlan, more: Partial<Seen> = {}): Seen {
  return {
    plan,
    ownerLabels: { plan, revision: 1 },
    content: {
      members: [],
      issues: [],
      unresolved: [],
      warnings: [],
      digest: "content",
      provided: new Map(),
    },
    members: [aView("c")],
    manifests: [],
    jobs: [],
    surplusJobs: [],
    account: { kind: "present", uid: "uid-account" },
    unwatchable: [],
    restore: "none",
    replacement: {
      predecessors: [],
      issues: [],
      late: [],
      takesOverFrom: new Set(),
      revision: 1,
      history: [],
    },
    transformed: [],
    transformationIssues: [],
    leftovers: [],
    writeFailures: [],
    pinnedNamespaces: [],
    unresolvedMs: 0,
    stageElapsedMs: 0,
    retryInMs: 0,
    nowMs: 0,
    ...more,
  };
}
