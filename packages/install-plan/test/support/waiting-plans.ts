import { defineKind } from "@quartermaster/runtime";
import { configMaps } from "@quartermaster/runtime/kinds";

import type { DeletionSeen } from "../../src/deletion/deletion-seen.ts";
import type { JobView } from "../../src/jobs/job-view.ts";
import { identityKey } from "../../src/model/identity.ts";
import type { MemberView, Seen, WakeTrigger } from "../../src/seen.ts";
import { aPlan } from "./plans.ts";
import { aSeen, aView, clear } from "./seen.ts";

const at = "2026-01-01T00:00:00Z";
const began = { startedAt: at, stage: "s", attempt: 1, phase: "Applying" };
const installed = { ...began, finishedAt: at, phase: "Installed" };
const minuteMs = 60_000;

/** How a plan that waits comes back when the cause goes. */
export type Wake =
  /** Something of the cluster that it subscribes to. */
  | { readonly trigger: WakeTrigger }
  /** Its own declaration or annotations. */
  | { readonly own: string }
  /** An object with its owner labels, which is tracked. */
  | { readonly tracked: string }
  /** Another plan, which it is a relative of. */
  | { readonly relative: true }
  /** It looks again on its own after at most so long. */
  | { readonly withinMs: number; readonly because: string };

/** A plan that waits, and what it waits for. */
export interface WaitingPlan {
  readonly reason: string;
  readonly given: Seen | DeletionSeen;
  readonly wake: Wake;
}

function fresh(more: Partial<Seen> = {}, spec: object = {}): Seen {
  return aSeen(aPlan("p", { spec }), {
    preflight: clear,
    members: [aView("c", { ownership: { kind: "absent" }, state: "Waiting" })],
    ...more,
  });
}
const applying = (more: Partial<Seen> = {}, spec: object = {}): Seen =>
  aSeen(aPlan("p", { spec, status: began }), more);
/** A plan that is installed, as it is seen. */
export const steady = (more: Partial<Seen> = {}, spec: object = {}): Seen =>
  aSeen(aPlan("p", { spec, status: installed }), more);
const content = (more: Partial<Seen["content"]>): Pick<Seen, "content"> => ({
  content: { ...aSeen(aPlan("p")).content, ...more },
});
const replacement = (more: Partial<Seen["replacement"]>): Pick<Seen, "replacement"> => ({
  replacement: { ...aSeen(aPlan("p")).replacement, ...more },
});
const absent = (more: Partial<MemberView> = {}): MemberView =>
  aView("c", { ownership: { kind: "absent" }, state: "Waiting", ...more });
const failure = {
  action: "apply",
  kind: "rejected",
  reason: "Rejected",
  message: "no",
  count: 1,
  notBeforeMs: minuteMs,
  triedAtMs: 0,
} as const;
const widgets = defineKind({
  group: "example.org",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
});
const drift = { paths: ["/data/a"], additions: [], manager: "kubectl-edit" };
const successor = { name: "b", uid: "uid-b", isDone: false };
const unresolved = (reason: "SecretMissing" | "ManifestMissing" | "PermissionsMissing") =>
  content({ unresolved: [{ reason, name: "rm", message: "gone", stage: "s", index: 0 }] });
const issue = (reason: "Rejected" | "KindMissing" | "NamespaceMissing" | "UnsafeCRD" | "EarlierOwner") =>
  content({ issues: [{ reason, message: "no" }] });
const blocked = (reason: string): Partial<Seen> => ({
  members: [absent({ blockedBy: { reason, message: "x" } })],
});
const aJob = (state: JobView["state"], message?: string): JobView =>
  ({
    stage: "s",
    stageIndex: 0,
    spec: {
      name: "migrate",
      attempts: 1,
      timeoutSeconds: 60,
      keep: "OnFailure",
      onFailure: "Fail",
      template: {},
    },
    attempt: 1,
    planAttempt: 1,
    tries: 1,
    jobName: "j",
    state,
    triesLeft: 0,
    ...(message === undefined ? {} : { message }),
  }) as unknown as JobView;
const withAccount = (account: Seen["account"]): Seen => fresh({ account });
const predecessor = { name: "a", uid: "uid-a", state: "Pending", hasLetGo: false } as const;

const identity = { apiVersion: "v1", kind: "ConfigMap", namespace: "ns", name: "c" };
const remaining = {
  identity,
  key: identityKey(identity),
  stageIndex: 0,
  index: 0,
  lifecycle: aPlan("any").spec.lifecycle,
  isCustomResource: false,
  kind: configMaps,
  live: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c", namespace: "ns", uid: "u", deletionTimestamp: at, finalizers: ["f"] },
  },
} as const;
function deleting(more: Partial<DeletionSeen> = {}): DeletionSeen {
  return {
    plan: aPlan("p", { status: installed, metadata: { deletionTimestamp: at } }),
    remaining: [remaining],
    unconfirmed: [],
    isPending: false,
    runningJobs: [],
    account: "present",
    isNamespaceTerminating: false,
    isOrphanRequested: false,
    isOverdue: false,
    refusals: new Map(),
    requested: new Set(),
    dependents: [],
    recentlyChanged: [],
    ...more,
  };
}
const permissions = { trigger: "permissions" } as const;

/** Reasons that wait, each with how it comes and how it goes. */
export const waitingPlans: readonly WaitingPlan[] = [
  {
    reason: "SecretMissing",
    given: fresh({ ...unresolved("SecretMissing"), manifests: [{ spec: { secretKeyRef: {} } }] as never }),
    wake: { withinMs: minuteMs, because: "the operator may not be allowed to watch Secrets" },
  },
  {
    reason: "ManifestMissing",
    given: fresh(unresolved("ManifestMissing")),
    wake: {
      withinMs: minuteMs,
      because: "its events bring the plan back; this is for the case that none comes",
    },
  },
  { reason: "KindMissing", given: fresh(issue("KindMissing")), wake: { trigger: "kinds" } },
  { reason: "UnsafeCRD", given: fresh(issue("UnsafeCRD")), wake: { trigger: "kinds" } },
  { reason: "NamespaceMissing", given: fresh(issue("NamespaceMissing")), wake: { trigger: "namespaces" } },
  { reason: "Rejected", given: fresh(issue("Rejected")), wake: { trigger: "admission" } },
  { reason: "EarlierOwner", given: fresh(issue("EarlierOwner")), wake: { trigger: "admission" } },
  {
    reason: "ReplaceConflict",
    given: fresh(replacement({ issues: [{ reason: "ReplaceConflict", message: "two" }] })),
    wake: { trigger: "plans" },
  },
  { reason: "PermissionsMissing", given: fresh(unresolved("PermissionsMissing")), wake: permissions },
  {
    reason: "PermissionsMissing",
    given: fresh({
      preflight: { ...clear, missingPermissions: [{ verb: "create", group: "", resource: "configmaps" }] },
    }),
    wake: permissions,
  },
  {
    reason: "PermissionsMissing",
    given: fresh({
      takeover: {
        subject: "eve",
        missing: [{ verb: "delete", group: "", resource: "installplans" }],
        forgettable: [],
        kept: [],
      },
      ...replacement({ predecessors: [predecessor] }),
    }),
    wake: permissions,
  },
  { reason: "KindNotReadable", given: fresh({ unwatchable: [widgets] }), wake: permissions },
  { reason: "KindNotReadable", given: steady({ unwatchable: [widgets] }), wake: permissions },
  { reason: "ServiceAccountMissing", given: withAccount({ kind: "missing" }), wake: permissions },
  { reason: "ServiceAccountReplaced", given: withAccount({ kind: "replaced", uid: "u" }), wake: permissions },
  {
    reason: "ServiceAccountReplaced",
    given: withAccount({ kind: "replaced", uid: "u" }),
    wake: { trigger: "admission" },
  },
  {
    reason: "NotOptedIn",
    given: withAccount({ kind: "impersonationDenied", uid: "u", remedy: "do" }),
    wake: permissions,
  },
  {
    reason: "AuthorUnknown",
    given: withAccount({ kind: "authorUnknown", uid: "u", isRecorded: false }),
    wake: permissions,
  },
  {
    reason: "AuthorizationLost",
    given: withAccount({ kind: "authorUnauthorized", uid: "u", author: "eve" }),
    wake: permissions,
  },
  {
    reason: "Forbidden",
    given: applying({
      members: [
        aView("c", { failure: { ...failure, kind: "forbidden", reason: "Forbidden" }, state: "Failed" }),
      ],
    }),
    wake: permissions,
  },
  {
    reason: "Forbidden",
    given: applying({ writeFailures: [{ ...failure, kind: "forbidden", reason: "Forbidden" }] }),
    wake: permissions,
  },
  { reason: "WaitingForKind", given: applying(blocked("WaitingForKind")), wake: { trigger: "kinds" } },
  {
    reason: "WaitingForNamespace",
    given: applying(blocked("WaitingForNamespace")),
    wake: { trigger: "namespaces" },
  },
  {
    reason: "NamespaceReplaced",
    given: applying(blocked("NamespaceReplaced")),
    wake: { trigger: "namespaces" },
  },
  {
    reason: "WaitingForDeletion",
    given: applying({
      members: [
        aView("c", {
          ownership: { kind: "inherited" } as never,
          state: "Terminating",
          live: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", deletionTimestamp: at } },
        }),
      ],
    }),
    wake: { withinMs: minuteMs, because: "an object that is not ours yet is not tracked" },
  },
  {
    reason: "WaitingForStage",
    given: applying({ members: [aView("c", { state: "InProgress" })] }),
    wake: { tracked: "the object becomes ready" },
  },
  {
    reason: "ResourceFailed",
    given: applying({ members: [aView("c", { state: "Failed" })] }),
    wake: { tracked: "the object recovers" },
  },
  {
    reason: "StageTimeout",
    given: applying({ members: [aView("c", { state: "InProgress" })], stageElapsedMs: 601_000 }),
    wake: { tracked: "the object becomes ready late" },
  },
  { reason: "Applying", given: fresh(), wake: { withinMs: 0, because: "the next step follows at once" } },
  {
    reason: "AwaitingApproval",
    given: fresh({}, { approval: "Manual" }),
    wake: { own: "spec.approved" },
  },
  { reason: "Paused", given: steady({}, { paused: true }), wake: { own: "spec.paused" } },
  {
    reason: "WaitingForDependency",
    given: fresh(
      { dependencies: { waitingFor: ["a is Applying"], issues: [] } },
      { dependsOn: { plans: [{ name: "a" }] } },
    ),
    wake: { trigger: "plans" },
  },
  {
    reason: "DependencyCycle",
    given: fresh(
      { dependencies: { waitingFor: [], issues: [{ reason: "DependencyCycle", message: "a cycle" }] } },
      { dependsOn: { plans: [{ name: "a" }] } },
    ),
    wake: { trigger: "plans" },
  },
  {
    reason: "InvalidDependsOn",
    given: fresh({
      dependencies: { waitingFor: [], issues: [{ reason: "InvalidDependsOn", message: "no selector" }] },
    }),
    wake: { own: "a new plan: spec.dependsOn is immutable" },
  },
  {
    reason: "WaitingForPredecessor",
    given: fresh(replacement({ predecessors: [predecessor] }), { replaces: { plans: [{ name: "a" }] } }),
    wake: { relative: true },
  },
  { reason: "Replacing", given: steady(replacement({ successor })), wake: { relative: true } },
  {
    reason: "RunningJobs",
    given: applying({ jobs: [aJob("Running")] }),
    wake: { withinMs: 63_000, because: "its Job has owner labels and is tracked; this is its deadline" },
  },
  {
    reason: "JobFailed",
    given: aSeen(aPlan("p", { status: { ...began, phase: "Failed" } }), { jobs: [aJob("Failed", "no")] }),
    wake: { own: "the annotation of qm plan retry" },
  },
  {
    reason: "JobTimeout",
    given: aSeen(aPlan("p", { status: { ...began, phase: "Failed" } }), { jobs: [aJob("TimedOut", "late")] }),
    wake: { own: "the annotation of qm plan retry" },
  },
  {
    reason: "Finishing",
    given: aSeen(
      aPlan("p", {
        spec: { replaces: { plans: [{ name: "a" }] } },
        status: { ...began, stage: "(finishing)" },
      }),
      {
        ...replacement({ predecessors: [{ ...predecessor, state: "Releasing", hasLetGo: true }] }),
        leftovers: [{ kind: configMaps, live: remaining.live, cleanup: "Delete" }].map((each) => ({
          ...each,
          live: { ...each.live, metadata: { name: "c", namespace: "ns", uid: "u" } },
        })) as never,
      },
    ),
    wake: { withinMs: 1_000, because: "leftovers have the owner labels of another plan" },
  },
  {
    reason: "Degraded",
    given: aSeen(aPlan("p", { status: { ...began, stage: "(finishing)" } }), {
      members: [aView("c", { state: "InProgress" })],
    }),
    wake: { withinMs: 0, because: "the next reconcile reports what is missing" },
  },
  {
    reason: "Drifted",
    given: steady({ members: [aView("c", { drift, state: "Drifted" })] }),
    wake: { withinMs: 0, because: "it is repaired" },
  },
  {
    reason: "Missing",
    given: steady(
      { members: [aView("c", { ownership: { kind: "absent" }, state: "Missing" })] },
      { lifecycle: { recreate: false } },
    ),
    wake: { tracked: "the object comes back with its owner labels" },
  },
  {
    reason: "Contested",
    given: steady({
      members: [
        aView("c", { drift, state: "Drifted", revertConflict: { manager: "x", notBeforeMs: minuteMs } }),
      ],
    }),
    wake: { withinMs: minuteMs, because: "the other writer has to be left alone for a while" },
  },
  {
    reason: "Collision",
    given: applying({
      members: [aView("c", { ownership: { kind: "unowned" }, state: "Waiting" }), absent()],
    }),
    wake: { withinMs: minuteMs, because: "an object without our owner labels is not watched" },
  },
  {
    reason: "NameTaken",
    given: applying({
      writeFailures: [{ ...failure, action: "createJob", kind: "collision", reason: "NameTaken" }],
    }),
    wake: { withinMs: minuteMs, because: "a Job without our owner labels is not watched" },
  },
  {
    reason: "Retrying",
    given: fresh({ preflight: { ...clear, undecided: ["down"] } }),
    wake: { withinMs: minuteMs, because: "a server that does not answer has no event" },
  },
  {
    reason: "Timeout",
    given: fresh({ preflight: { ...clear, undecided: ["down"], elapsedMs: 601_000 } }),
    wake: { withinMs: minuteMs, because: "a server that does not answer has no event" },
  },
  {
    reason: "RolledBack",
    given: aSeen(
      aPlan("p", {
        spec: { replaces: { plans: [{ name: "a" }] } },
        status: {
          ...began,
          phase: "Failed",
          message: "no",
          replaces: [{ name: "a", uid: "uid-a", state: "Pending" }],
        },
      }),
      replacement({ predecessors: [predecessor] }),
    ),
    wake: { relative: true },
  },
  {
    reason: "Deleting",
    given: deleting({ requested: new Set(["u"]) }),
    wake: { withinMs: 5_000, because: "objects that go are tracked; some go without an event" },
  },
  {
    reason: "DeletionBlocked",
    given: deleting(),
    wake: { withinMs: 5_000, because: "the finalizer of an object that is tracked" },
  },
  {
    reason: "DeletionBlocked",
    given: deleting({ unseen: "may not watch" }),
    wake: { withinMs: 5_000, because: "a plan that is being deleted subscribes to permissions too" },
  },
  {
    reason: "DeletionBlocked",
    given: deleting({ account: "missing" }),
    wake: { withinMs: 30_000, because: "a plan that is being deleted subscribes to permissions too" },
  },
  {
    reason: "ServiceAccountReplaced",
    given: deleting({ account: "replaced" }),
    wake: { withinMs: 30_000, because: "a plan that is being deleted subscribes to permissions too" },
  },
];
