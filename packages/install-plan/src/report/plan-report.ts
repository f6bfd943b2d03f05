import type { InstallPlan, PlanPhase } from "@quartermaster/api";
import { type ResourceState, worstFirst } from "@quartermaster/health";
import { type ConditionUpdate, type Outcome, timestampOf, definedFields } from "@quartermaster/runtime";

import { jobRecord } from "../jobs/ended-jobs.ts";
import { memberStates, whyOf } from "../members/member-states.ts";
import type { Decision } from "../model/decision.ts";
import { identityKey } from "../model/identity.ts";
import { collisionReasons } from "../model/issue.ts";
import { attemptOf, hasStarted, isInstalled, type PlanStatus } from "../model/plan-status.ts";
import { permissionsOf } from "../permissions/permission.ts";
import { issuesOf } from "../preflight/preflight.ts";
import { coveredPreview, detailAction, previewOf } from "../preflight/preview.ts";
import { retryRequestOf } from "../retry/retry.ts";
import type { MemberView, Seen } from "../seen.ts";
import { planConditions } from "./plan-conditions.ts";

/** The status that a plan should have: what lasts from before, what is seen now, and what the rule says. */
export function planReport(
  seen: Seen,
  now: Date,
  { phase, message, progress = {} }: Pick<Decision, "phase" | "progress"> & { readonly message: string },
): { readonly status: PlanStatus; readonly conditions: readonly ConditionUpdate[] } {
  const before = seen.plan.status ?? {};
  const counts = countsOf(seen);
  const { revision, replaces, replacedBy } = before;
  const lasting = definedFields({
    ...madeProgress(seen),
    revision,
    serviceAccountUid: presentUid(seen) ?? before.serviceAccountUid,
    replaces,
    replacedBy,
    // In the same status as the attempt that it led to: no crash can make two of one request.
    lastHandledRetry: retryRequestOf(seen.plan) ?? before.lastHandledRetry,
    restored: restoredUid(seen, phase),
    approvedPreview: hasStarted(seen.plan) ? before.approvedPreview : bareApproval(seen),
    pinned: isInstalled(seen.plan) ? undefined : before.pinned,
    namespaces: isUnderWay(seen, progress) ? seen.pinnedNamespaces : undefined,
  });
  const status = definedFields({
    ...lasting,
    phase,
    message: message.slice(0, 1024),
    attempt: attemptOf(seen.plan),
    objects: `${counts.ready + counts.suspended}/${counts.total}`,
    counts,
    states: memberStates(seen),
    details: detailsOf(seen, now),
    jobs: seen.jobs.length === 0 ? undefined : seen.jobs.map((job) => jobRecord(job, before.jobs ?? [], now)),
    preview: previewOf(seen) ?? before.preview,
    permissions: permissionsOf(seen, now),
    ...progress,
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- undefined fields are dropped above; the rest is of the status' own types
  return { status: status as PlanStatus, conditions: planConditions(seen) };
}

/** Once everything is back, the word of a user that it was restored has been heard. */
function restoredUid({ plan: { metadata, status }, restore }: Seen, phase: PlanPhase): string | undefined {
  return phase === "Installed" && restore === "given" ? metadata.uid : status?.restored;
}

/** Of a plan that has not started there is none; what another client wrote there goes before it can count. */
function madeProgress({ plan }: Seen): Partial<PlanStatus> {
  if (!hasStarted(plan)) return {};
  const { startedAt, finishedAt, stage, stageStartedAt, contentDigest } = plan.status ?? {};
  return definedFields({ startedAt, finishedAt, stage, stageStartedAt, contentDigest });
}

/** Before the first write nothing is settled; once installed, objects belong where they are. */
function isUnderWay({ plan, pinnedNamespaces }: Seen, { startedAt }: Partial<PlanStatus>): boolean {
  return pinnedNamespaces.length > 0 && !isInstalled(plan) && (hasStarted(plan) || startedAt !== undefined);
}

/** An approval that names its preview needs no memory of it. */
function bareApproval(seen: Seen): string | undefined {
  return seen.plan.spec.approvedPreview === undefined ? coveredPreview(seen) : undefined;
}

/** The account is pinned by the first status: another one of its name is present only once a user has confirmed it. */
function presentUid({ account }: Seen): string | undefined {
  return account.kind === "present" ? account.uid : undefined;
}

const counters = {
  Ready: "ready",
  Suspended: "suspended",
  InProgress: "inProgress",
  Failed: "failed",
  Missing: "missing",
  Drifted: "drifted",
  Conflict: "conflict",
  Terminating: "terminating",
  Unknown: "unknown",
  Waiting: "unknown",
} as const satisfies Record<ResourceState, string>;

/** Exact, however many there are. Of an object whose manifest no longer exists nothing is known but that there is one. */
function countsOf({ members, content }: Seen): NonNullable<PlanStatus["counts"]> {
  const lost = content.unresolved.length;
  const counts = {
    total: members.length + lost,
    ready: 0,
    suspended: 0,
    inProgress: 0,
    failed: 0,
    missing: 0,
    drifted: 0,
    conflict: 0,
    terminating: 0,
    unknown: lost,
  };
  for (const { state } of members) counts[counters[state]] += 1;
  return counts;
}

const detailLimit = 100;

function detailsOf(seen: Seen, now: Date): PlanStatus["details"] {
  const before = seen.plan.status?.details ?? [];
  const open = seen.members.filter(({ state }) => state !== "Ready" && state !== "Waiting");
  return [...issueDetails(seen), ...worstFirst(open).map((view) => detailOf(view, seen))]
    .slice(0, detailLimit)
    .map((detail) => {
      const known = before.find(
        (other) =>
          other.stage === detail.stage &&
          other.index === detail.index &&
          other.object.name === detail.object.name &&
          other.state === detail.state,
      );
      return { ...detail, since: known?.since ?? timestampOf(now) };
    });
}

/** The message has room for the first few; here is the first about each object. */
function issueDetails(seen: Seen): readonly Detail[] {
  if (hasStarted(seen.plan)) return [];
  const details = issuesOf(seen).flatMap(({ stage, index, object, reason, message, field }) =>
    stage === undefined || index === undefined || object === undefined
      ? []
      : [
          {
            stage,
            index,
            object,
            state: "Waiting" as const,
            ...(collisionReasons.has(reason) ? { action: "conflict" as const } : {}),
            reason,
            message: message.slice(0, 256),
            fields: field === undefined ? undefined : [field],
          },
        ],
  );
  return [...Map.groupBy(details, ({ object }) => identityKey(object)).values()].flatMap(
    ([first]) => first ?? [],
  );
}

type Detail = NonNullable<PlanStatus["details"]>[number];

function detailOf(view: MemberView, seen: Seen): Detail {
  const { member, state, live, failure, drift, ownership, revertConflict } = view;
  const fields = [...drift.paths, ...drift.additions].slice(0, 10);
  const why = whyOf(view);
  const otherManager = revertConflict?.manager ?? drift.manager;
  return {
    stage: member.stage,
    index: member.index,
    object: member.identity,
    state,
    action: detailAction(view, seen),
    ...(live?.metadata.uid === undefined || isOfOthers(view) ? {} : { uid: live.metadata.uid }),
    reason: why.reason,
    message: why.message.slice(0, 256),
    ...(otherManager === undefined || ownership.kind !== "owned" ? {} : { otherManager }),
    ...(fields.length === 0 || failure !== undefined ? {} : { fields }),
  };
}

/** Nothing of an object is shown that is not the plan's. */
function isOfOthers({ ownership: { kind } }: MemberView): boolean {
  return kind === "ownedByOther" || kind === "unowned";
}

/**
 * Status when a reconcile failed before a rule could decide: everything from before, in a phase that fits the
 * conditions. Without it a plan that the operator cannot read would continue saying Installed.
 */
export function statusAfterError(plan: InstallPlan, outcome: Outcome): PlanStatus {
  const message = "why" in outcome ? outcome.why.message : plan.status?.message;
  return { ...plan.status, phase: phaseAfterError(plan, outcome), message: message?.slice(0, 1024) };
}

function phaseAfterError(plan: InstallPlan, { kind }: Outcome): PlanPhase {
  const { phase } = plan.status ?? {};
  if (plan.metadata.deletionTimestamp !== undefined) return "Deleting";
  if (phase === "Superseded" || (phase === "Replacing" && kind === "waiting")) return phase;
  if (isInstalled(plan)) return "Degraded";
  if (kind === "stalled") return "Failed";
  return hasStarted(plan) ? "Applying" : "Validating";
}
