import type { InstallPlan } from "@quartermaster/api";
import { type ResourceState, worse } from "@quartermaster/health";
import { unreachable } from "@quartermaster/runtime";
import * as fc from "fast-check";

import { noDrift } from "../../src/drift/drift.ts";
import type { JobView } from "../../src/jobs/job-view.ts";
import { attemptOf, hasStarted, isInstalled } from "../../src/model/plan-status.ts";
import type { MemberView, Preflight, Seen } from "../../src/seen.ts";
import { aPlan } from "./plans.ts";
import { aSeen, aView, clear } from "./seen.ts";

const at = "2026-01-01T00:00:00Z";
const permission = { verb: "create", group: "", resource: "secrets", namespace: "ns" };
const kinds = ["owned", "absent", "unowned", "ownedByOther", "inherited"] as const;
const health = ["Ready", "Suspended", "InProgress", "Failed", "Terminating"] as const;
const unresolvedReasons = [
  "ManifestMissing",
  "ContentChanged",
  "ManifestInvalid",
  "SecretMissing",
  "PermissionsMissing",
] as const;

/** Mostly undefined, so that most worlds are good ones and walks through them come far. */
function seldom<T>(arbitrary: fc.Arbitrary<T>, weight = 9): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

const anyMember = fc.record({
  ownership: fc.oneof({ weight: 3, arbitrary: fc.constant("owned" as const) }, fc.constantFrom(...kinds)),
  health: fc.oneof({ weight: 3, arbitrary: fc.constant("Ready" as const) }, fc.constantFrom(...health)),
  isDrifted: seldom(fc.constant(true)),
  failure: seldom(fc.constantFrom("transient", "forbidden", "rejected", "collision")),
  blockedBy: seldom(fc.constantFrom("WaitingForKind", "WaitingForNamespace", "NamespaceReplaced")),
  isExpired: seldom(fc.constant(true)),
  isContested: seldom(fc.constant(true)),
});

export const anyState = fc.record({
  members: fc.array(anyMember, { maxLength: 3 }),
  account: fc.oneof(
    { weight: 9, arbitrary: fc.constant("present" as const) },
    fc.constantFrom("missing", "replaced", "impersonationDenied", "authorUnknown", "authorUnauthorized"),
  ),
  unresolved: seldom(fc.constantFrom(...unresolvedReasons)),
  issue: seldom(fc.constantFrom("KindMissing", "NamespaceMissing", "InvalidManifest")),
  preflightIssue: seldom(fc.constantFrom("Collision", "Rejected")),
  isLackingPermission: seldom(fc.constant(true)),
  isLackingTakeover: seldom(fc.constant(true)),
  isUndecided: seldom(fc.constant(true)),
  isUnwatchable: seldom(fc.constant(true)),
  // No one comes back from being replaced.
  successor: seldom(fc.constantFrom("takingOver", "done"), 30),
  predecessor: seldom(fc.constantFrom("holding", "released"), 2),
  job: seldom(fc.constantFrom("Waiting", "Running", "Succeeded", "Failed", "TimedOut"), 2),
  writeFailure: seldom(fc.constantFrom("forbidden", "collision")),
  isLate: seldom(fc.constant(true)),
  isRetryDue: fc.boolean(),
  retryRequest: seldom(fc.constantFrom("1", "2")),
  isPaused: seldom(fc.constant(true)),
  isApproved: fc.boolean(),
});

/** One of them. */
export type State = typeof anyState extends fc.Arbitrary<infer T> ? T : never;

export const anyAuthor = fc.record({
  approval: fc.constantFrom("Automatic", "Manual"),
  onFailure: fc.constantFrom("Hold", "Rollback"),
  wait: fc.constantFrom("Ready", "Applied"),
  maxAttempts: fc.constantFrom(0, 2),
  recreate: fc.boolean(),
  revert: fc.constantFrom("Owned", "Off"),
});

/** One author's choices. */
export type Author = typeof anyAuthor extends fc.Arbitrary<infer T> ? T : never;

/** The plan of the author as it is when the reconcile of the world comes; an approval cannot be taken back. */
export function planIn(author: Author, scene: State, status: object | undefined): InstallPlan {
  const { approval, onFailure, wait, maxAttempts, recreate, revert } = author;
  const wasApproved = status !== undefined && "startedAt" in status;
  return aPlan("p", {
    metadata:
      scene.retryRequest === undefined
        ? {}
        : { annotations: { "install.quartermaster.dev/retry": scene.retryRequest } },
    spec: {
      approval,
      approved: approval === "Manual" && (scene.isApproved || wasApproved),
      paused: scene.isPaused === true,
      stages: [{ name: "s", resources: [], wait, jobs: [{ name: "migrate", template: { template: {} } }] }],
      retry: { maxAttempts },
      lifecycle: { recreate, revert },
      replaces: { plans: [{ name: "a" }], onFailure },
    },
    ...(status === undefined ? {} : { status }),
  });
}

export function seenIn(plan: InstallPlan, scene: State): Seen {
  const base = aSeen(plan);
  const isStarted = hasStarted(plan);
  const facts: Partial<Seen> = {
    members: scene.members.map((member, index) => viewOf(member, index, plan)),
    content: contentIn(scene, base),
    account: accountOf(scene.account),
    unwatchable: scene.isUnwatchable === true ? [unwatchableKind] : [],
    replacement: replacementIn(plan, scene, base),
    jobs: scene.job === undefined ? [] : [jobIn(plan, scene.job)],
    stageElapsedMs: scene.isLate === true ? 601_000 : 0,
    retryInMs: scene.isRetryDue ? 0 : 1_000,
    // Before its start a plan has been refused nothing; later it need not ask to take over.
    ...(isStarted ? { writeFailures: writeFailuresIn(scene) } : takeoverIn(scene)),
  };
  const seen = aSeen(plan, facts);
  return canDryRun(seen) ? { ...seen, preflight: preflightIn(scene) } : seen;
}

function contentIn({ unresolved: reason, issue }: State, { content }: Seen): Seen["content"] {
  const location = { stage: "s", index: 9, name: "m", message: "unresolved" };
  return {
    ...content,
    unresolved: reason === undefined ? [] : [{ ...location, reason }],
    issues: issue === undefined ? [] : [{ reason: issue, message: "an issue" }],
  };
}

function takeoverIn({ isLackingTakeover }: State): Pick<Seen, "takeover"> {
  const takeover = { subject: "eve", missing: [permission], forgettable: [], kept: [] };
  return isLackingTakeover === true ? { takeover } : {};
}

function writeFailuresIn({ writeFailure }: State): Seen["writeFailures"] {
  return writeFailure === undefined ? [] : [failureOf(writeFailure, "createJob")];
}

const unwatchableKind = {
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  scope: "Namespaced",
} as const;

/** As `observe` decides it. */
function canDryRun({ plan, content, account, replacement, takeover, unwatchable }: Seen): boolean {
  return (
    !hasStarted(plan) &&
    content.unresolved.length === 0 &&
    content.issues.every(({ reason }) => reason === "NamespaceMissing") &&
    replacement.successor === undefined &&
    unwatchable.length === 0 &&
    takeover === undefined &&
    account.kind === "present"
  );
}

function preflightIn({ preflightIssue, isLackingPermission, isUndecided, isLate }: State): Preflight {
  return {
    ...clear,
    issues: preflightIssue === undefined ? [] : [{ reason: preflightIssue, message: "an issue" }],
    missingPermissions: isLackingPermission === true ? [permission] : [],
    undecided: isUndecided === true ? ["busy"] : [],
    elapsedMs: isLate === true ? 601_000 : 0,
  };
}

function replacementIn(
  plan: InstallPlan,
  { successor, predecessor }: State,
  base: Seen,
): Seen["replacement"] {
  const state = plan.status?.replaces?.[0]?.state ?? "Pending";
  const before = { name: "a", uid: "uid-a", plan: aPlan("a"), state, hasLetGo: predecessor === "released" };
  return {
    ...base.replacement,
    predecessors: predecessor === undefined ? [] : [before],
    ...(successor === undefined
      ? {}
      : { successor: { name: "b", uid: "uid-b", isDone: successor === "done" } }),
  };
}

function accountOf(kind: State["account"]): Seen["account"] {
  switch (kind) {
    case "missing":
      return { kind };
    case "authorUnknown":
      return { kind, uid: "u", isRecorded: false };
    case "authorUnauthorized":
      return { kind, uid: "u", author: "eve" };
    case "present":
    case "replaced":
      return { kind, uid: "u" };
    case "impersonationDenied":
      return { kind, uid: "u", remedy: "let it" };
    default:
      return unreachable(kind);
  }
}

function failureOf(
  kind: "transient" | "forbidden" | "rejected" | "collision",
  action: "apply" | "createJob",
): Seen["writeFailures"][number] {
  const reason = {
    transient: "Retrying",
    forbidden: "Forbidden",
    rejected: "Rejected",
    collision: "Collision",
  }[kind];
  return { action, kind, reason, message: "refused", count: 1, notBeforeMs: 0, triedAtMs: 0 };
}

function jobIn(plan: InstallPlan, state: JobView["state"]): JobView {
  const [spec] = plan.spec.stages[0]?.jobs ?? [];
  if (spec === undefined) throw new Error("the plan has no job");
  const attempt = attemptOf(plan);
  const counted = { attempt, planAttempt: attempt, tries: 1, triesLeft: 0 };
  return { stage: "s", stageIndex: 0, spec, ...counted, jobName: "p-s-migrate", state };
}

/** Before its start a plan owns nothing, and has been refused nothing. */
function viewOf(given: State["members"][number], index: number, plan: InstallPlan): MemberView {
  const isStarted = hasStarted(plan);
  const kind = given.ownership === "owned" && !isStarted ? "absent" : given.ownership;
  const isDrifted = kind === "owned" && given.isDrifted === true;
  const isExpired = kind === "absent" && given.isExpired === true && isStarted;
  const { live, ...view } = aView(`c${index}`);
  return {
    ...view,
    member: { ...view.member, index, lifecycle: plan.spec.lifecycle },
    ...(kind === "absent" || live === undefined ? {} : { live }),
    ownership: kind === "ownedByOther" ? { kind, owner: "plan ns/other" } : { kind },
    drift: isDrifted ? { paths: ["/data/a"], additions: [] } : noDrift,
    state: stateOf(kind, { ...given, isDrifted, isExpired }, isInstalled(plan)),
    ...troublesOf({ ...given, isExpired }, isStarted),
  };
}

type Troubled = Omit<State["members"][number], "isExpired"> & { readonly isExpired: boolean };

function troublesOf(
  { failure: refused, blockedBy: reason, isContested, isExpired }: Troubled,
  isStarted: boolean,
): Partial<MemberView> {
  const failure = refused === undefined || !isStarted ? undefined : failureOf(refused, "apply");
  return {
    ...(isExpired ? { isExpired } : {}),
    ...(failure === undefined ? {} : { failure }),
    ...(failure !== undefined && failure.kind !== "transient" ? { state: "Failed" } : {}),
    ...(reason === undefined ? {} : { blockedBy: { reason, message: "blocked" } }),
    ...(isContested === true ? { revertConflict: { manager: "x", notBeforeMs: 10 } } : {}),
  };
}

function stateOf(
  kind: (typeof kinds)[number],
  given: { readonly health: ResourceState; readonly isDrifted: boolean; readonly isExpired: boolean },
  isPlanInstalled: boolean,
): ResourceState {
  if (kind === "owned") return worse(given.health, given.isDrifted ? "Drifted" : "Ready");
  if (kind === "inherited") return "Waiting";
  if (kind === "absent" && given.isExpired) return "Ready";
  if (!isPlanInstalled) return "Waiting";
  return kind === "absent" ? "Missing" : "Conflict";
}

/** When everything happens. */
export const stateTime = new Date(at);
