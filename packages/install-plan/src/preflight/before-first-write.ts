import { stalled, timestampOf, waiting } from "@quartermaster/runtime";

import { whyUnusable } from "../account/account.ts";
import { dependenciesNotReady } from "../dependencies/plans-beside.ts";
import { describeNeverThere } from "../handover/replacement.ts";
import { whyNoTakeover } from "../handover/takeover.ts";
import { describeUnwatchable } from "../inventory/unwatchable-kinds.ts";
import { secretRetryMs } from "../manifest/content-reader.ts";
import {
  appliesStage,
  atOnceMs,
  because,
  type Decision,
  type PlanRule,
  recheckMs,
} from "../model/decision.ts";
import type { Issue, IssueReason } from "../model/issue.ts";
import { hasStarted, isInstalled, type PlanStatus, turnTo } from "../model/plan-status.ts";
import { describePermission } from "../permissions/permission.ts";
import { type PlanAction, warn } from "../plan-action.ts";
import { reasons } from "../reasons.ts";
import type { Seen, WakeTrigger } from "../seen.ts";
import { collisionRecheckMs } from "./colliding.ts";
import { describeIssues, issuesOf } from "./preflight.ts";
import { approvalOf } from "./preview.ts";

const minuteMs = 60_000;
/** Discovery, CRDs, namespaces, webhooks and policies bring an invalid plan back; quotas do not. */
const invalidRetryMs = 10 * minuteMs;
/** About an aggregated API there is no event. */
const kindMissingRetryMs = minuteMs;
const forbiddenRetryMs = 30_000;
/** Permissions of our own may be missing only briefly, while the server starts. */
const unwatchableRetryMs = 10_000;

/** Nothing is written before every one of these has passed. */
export const beforeFirstWrite: readonly PlanRule[] = [
  { name: "dependenciesNotReady", decide: dependenciesNotReady },
  { name: "manifestsMissing", decide: manifestsMissing },
  { name: "contentInvalid", decide: contentInvalid },
  { name: "accountMissing", decide: accountMissing },
  { name: "takeoverForbidden", decide: takeoverForbidden },
  { name: "kindsUnwatchable", decide: kindsUnwatchable },
  { name: "permissionsMissing", decide: permissionsMissing },
  { name: "serverUndecided", decide: serverUndecided },
  { name: "awaitingApproval", decide: awaitingApproval },
  { name: "predecessorsHold", decide: predecessorsHold },
  { name: "cleared", decide: cleared },
];

/** A user has to create the manifest, or restore it; its events bring us back. */
function manifestsMissing(seen: Seen): Decision | undefined {
  const [first] = seen.content.unresolved;
  if (hasStarted(seen.plan) || first === undefined) return undefined;
  const why = because(first.reason, seen.content.unresolved.map(({ message }) => message).join(" "));
  const isDeleted = first.reason === "ManifestMissing" || first.reason === "SecretMissing";
  if (first.reason === "PermissionsMissing")
    return { phase: "Forbidden", outcome: stalled(why, soonIf("permissions", seen, forbiddenRetryMs)) };
  const phase = isDeleted ? "Resolving" : "Invalid";
  // A Secret is not watched: that it is there, or was mended, is found by looking.
  const holdsSecret = seen.manifests.some(({ spec }) => spec.secretKeyRef !== undefined);
  const retryMs = holdsSecret ? secretRetryMs(seen) : invalidRetryMs;
  const outcome = isDeleted ? waiting(why, Math.min(minuteMs, retryMs)) : stalled(why, retryMs);
  return { phase, outcome };
}

function contentInvalid(seen: Seen): Decision | undefined {
  const issues = issuesOf(seen);
  if (hasStarted(seen.plan) || issues.length === 0) return undefined;
  const why = because(issues[0]?.reason ?? "", describeIssues(issues));
  const outcome = stalled(why, invalidForMs(issues, seen));
  return { phase: "Invalid", outcome };
}

function invalidForMs(issues: readonly Issue[], seen: Seen): number {
  const isAbout = (wanted: IssueReason): boolean => issues.some(({ reason }) => reason === wanted);
  if (isAbout("KindMissing")) return soonIf("kinds", seen, kindMissingRetryMs);
  if (isAbout("Rejected")) return soonIf("admission", seen, invalidRetryMs);
  return collisionRecheckMs(seen.colliding, invalidRetryMs);
}

function accountMissing(seen: Seen): Decision | undefined {
  const { account, plan } = seen;
  // Once installed, objects are judged as ever; only repairs have to wait.
  if (account.kind === "present" || isInstalled(plan)) return undefined;
  const why = whyUnusable(account, plan.spec.serviceAccountName);
  return { phase: "Forbidden", outcome: stalled(why, soonIf("permissions", seen, forbiddenRetryMs)) };
}

/** Taking over ends the other plan. What an earlier reconcile announced is taken back, so that the other plan continues. */
function takeoverForbidden(seen: Seen): Decision | undefined {
  const why = whyNoTakeover(seen);
  if (why === undefined) return undefined;
  return {
    phase: "Forbidden",
    progress: { replaces: undefined },
    outcome: stalled(why, soonIf("permissions", seen, forbiddenRetryMs)),
  };
}

/** Kinds that cannot be watched can be neither written nor judged, whatever the phase: nothing is done until they can. */
function kindsUnwatchable(seen: Seen): Decision | undefined {
  const { plan, unwatchable } = seen;
  if (unwatchable.length === 0) return undefined;
  const why = because(reasons.kindNotReadable, `${describeUnwatchable(unwatchable)}.`);
  const begun = isInstalled(plan) ? "Degraded" : "Failed";
  return {
    phase: hasStarted(plan) ? begun : "Forbidden",
    outcome: stalled(why, soonIf("permissions", seen, unwatchableRetryMs)),
  };
}

function permissionsMissing(seen: Seen): Decision | undefined {
  const missing = seen.preflight?.missingPermissions ?? [];
  if (missing.length === 0) return undefined;
  const { serviceAccountName } = seen.plan.spec;
  const why = because(
    reasons.permissionsMissing,
    `Service account ${serviceAccountName} may not ${missing.map(describePermission).join("; ")}.`,
  );
  return { phase: "Forbidden", outcome: stalled(why, soonIf("permissions", seen, forbiddenRetryMs)) };
}

function soonIf(trigger: WakeTrigger, { recentlyChanged = [] }: Seen, otherwiseMs: number): number {
  return recentlyChanged.includes(trigger) ? recheckMs : otherwiseMs;
}

/** The server, or a webhook behind it, could not respond. It is queried again; after the first stage's time it counts as a failure. */
function serverUndecided(seen: Seen): Decision | undefined {
  const { preflight, plan } = seen;
  if (preflight === undefined || preflight.undecided.length === 0) return undefined;
  const retryMs = Math.max(preflight.retryAfterMs, Math.min(minuteMs, 1000 + preflight.elapsedMs));
  const [message = ""] = preflight.undecided.filter((text) => text !== "");
  const limitMs = 1000 * (plan.spec.stages[0]?.timeoutSeconds ?? 600);
  if (preflight.elapsedMs > limitMs) {
    const why = because(reasons.timeout, `The API server did not check the plan in time: ${message}`);
    return { phase: "Failed", outcome: stalled(why, retryMs) };
  }
  const why = because(reasons.retrying, `The API server cannot check the plan yet: ${message}`);
  return { phase: "Validating", outcome: waiting(why, retryMs) };
}

/** An approval covers exactly what its preview showed; see `coveredPreview`. */
function awaitingApproval(seen: Seen): Decision | undefined {
  const approval = approvalOf(seen);
  if (approval === "automatic" || approval === "given") return undefined;
  const message =
    approval === "outdated"
      ? "The cluster has changed since the preview was approved; review the new preview and set spec.approvedPreview to its digest."
      : "The preview is waiting for approval: set spec.approved to true and spec.approvedPreview to its digest.";
  const why = because(reasons.awaitingApproval, message);
  return { phase: "AwaitingApproval", message, outcome: waiting(why, invalidRetryMs) };
}

/** Our status requests the handover; the first write comes when the predecessors' statuses confirm it. */
function predecessorsHold(seen: Seen): Decision | undefined {
  const { plan, replacement } = seen;
  if (hasStarted(plan) || replacement.predecessors.length === 0) return undefined;
  const isAnnounced = plan.status?.replaces !== undefined;
  const holding = replacement.predecessors.filter(({ hasLetGo }) => !hasLetGo);
  if (isAnnounced && holding.length === 0) return undefined;
  const names = replacement.predecessors.map(({ name }) => name).join(", ");
  const why = because(reasons.waitingForPredecessor, `Waiting for ${names} to hand over.`);
  return {
    phase: "Validating",
    progress: { replaces: releasing(seen), revision: replacement.revision },
    outcome: waiting(why, isAnnounced ? minuteMs : atOnceMs),
  };
}

function releasing({ replacement }: Seen): NonNullable<PlanStatus["replaces"]> {
  return replacement.predecessors.map(({ name, uid, state }) => ({
    name,
    uid,
    state: state === "Gone" ? ("Gone" as const) : ("Releasing" as const),
  }));
}

/** Everything is checked and approved. That is written down before the first object is: a crash must not request approval again. */
function cleared(seen: Seen, now: Date): Decision | undefined {
  const { plan, content, replacement, account } = seen;
  if (hasStarted(plan) || account.kind !== "present") return undefined;
  const [first] = plan.spec.stages;
  const why = appliesStage(first?.name ?? "");
  return {
    phase: "Applying",
    actions: [...claims(seen), ...warnings(seen)],
    inFlight: 16,
    progress: {
      startedAt: timestampOf(now),
      attempt: 1,
      ...turnTo(first, now),
      revision: replacement.revision,
      serviceAccountUid: account.uid,
      contentDigest: content.digest,
      ...pinnedFrom(seen),
    },
    outcome: waiting(why, atOnceMs),
  };
}

/** Written down before anything is done: what the preview did not show is neither deleted nor, once approved by hand, adopted. */
function pinnedFrom({ plan, transformed, preflight }: Seen): Pick<PlanStatus, "pinned"> {
  const deletions = transformed.flatMap(({ matches }) => matches.map(({ metadata }) => metadata.uid ?? ""));
  const adoptions = plan.spec.approval === "Manual" ? (preflight?.adopts ?? []) : [];
  if (deletions.length + adoptions.length === 0) return {};
  return {
    pinned: {
      ...(deletions.length === 0 ? {} : { deletions: [...new Set(deletions)] }),
      ...(adoptions.length === 0 ? {} : { adoptions: [...adoptions] }),
    },
  };
}

function claims({ plan, manifests }: Seen): readonly PlanAction[] {
  return manifests
    .filter(({ metadata }) => !metadata.ownerReferences?.some(({ uid }) => uid === plan.metadata.uid))
    .map((manifest) => ({ kind: "claimManifest", manifest }));
}

function warnings({ content, replacement }: Seen): readonly PlanAction[] {
  const neverThere = describeNeverThere(replacement);
  return [
    ...warn({ reason: "ContentAdjusted", warnings: content.warnings }),
    ...warn({ reason: "NotReplaced", warnings: neverThere === undefined ? [] : [neverThere] }),
  ];
}
