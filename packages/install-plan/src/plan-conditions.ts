import type { InstallPlan } from "@quartermaster/api";
import { type ConditionUpdate, unreachable } from "@quartermaster/runtime";

import { whyUnusable } from "./account/account-view.ts";
import { authorOf } from "./account/author.ts";
import { hasDrifted } from "./drift/drift.ts";
import { whyNoTakeover } from "./handover/takeover.ts";
import { describeIdentity } from "./identity.ts";
import { describeUnwatchable } from "./inventory/unwatchable-kinds.ts";
import type { Issue } from "./issue.ts";
import { describePermission } from "./permissions/permission.ts";
import { hasStarted } from "./plan-status.ts";
import { approvalOf } from "./preflight/approval.ts";
import { reasons } from "./reasons.ts";
import type { MemberView, Seen } from "./seen.ts";

/** The conditions that plans have besides Ready, Reconciling and Stalled. */
export const planConditionTypes = [
  "Resolved",
  "Validated",
  "Authorized",
  "Approved",
  "Applied",
  "Drifted",
  "Contested",
  "Superseded",
  "DeletionBlocked",
] as const;

/** What is seen, as conditions. */
export function planConditions(seen: Seen): readonly ConditionUpdate[] {
  return [
    resolved(seen),
    validated(seen),
    authorized(seen),
    approved(seen),
    applied(seen),
    drifted(seen),
    contested(seen),
    superseded(seen),
  ];
}

type Answer = readonly [status: ConditionUpdate["status"], reason: string, message: string];

function claim(
  type: (typeof planConditionTypes)[number],
  [status, reason, message]: Answer,
): ConditionUpdate {
  return { type, status, reason, message: message.slice(0, 1024) };
}

function resolved({ content }: Seen): ConditionUpdate {
  const [first] = content.unresolved;
  if (first === undefined)
    return claim("Resolved", ["True", reasons.resolved, "All manifests are resolved."]);
  return claim("Resolved", ["False", first.reason, first.message]);
}

function validated(seen: Seen): ConditionUpdate {
  const issues = issuesOf(seen);
  if (issues.length > 0)
    return claim("Validated", ["False", issues[0]?.reason ?? "", describeIssues(issues)]);
  const { preflight } = seen;
  const isAnswered = preflight?.missingPermissions.length === 0 && preflight.undecided.length === 0;
  const isKnown = hasStarted(seen.plan) || isAnswered;
  if (!isKnown)
    return claim("Validated", ["Unknown", reasons.notChecked, "The objects have not been checked yet."]);
  return claim("Validated", ["True", reasons.validated, "All objects are valid."]);
}

function authorized(seen: Seen): ConditionUpdate {
  const { account, unwatchable, preflight, plan, members, writeFailures } = seen;
  const { serviceAccountName } = plan.spec;
  if (account.kind !== "present") {
    const { reason, message } = whyUnusable(account, serviceAccountName);
    return claim("Authorized", ["False", reason, message]);
  }
  const noTakeover = whyNoTakeover(seen);
  if (noTakeover !== undefined) return claim("Authorized", ["False", noTakeover.reason, noTakeover.message]);
  if (unwatchable.length > 0)
    return claim("Authorized", ["False", reasons.kindNotReadable, `${describeUnwatchable(unwatchable)}.`]);
  const missing = preflight?.missingPermissions ?? [];
  if (missing.length > 0)
    return claim("Authorized", [
      "False",
      reasons.permissionsMissing,
      `Service account ${serviceAccountName} may not ${missing.map(describePermission).join("; ")}.`,
    ]);
  const refused = [...members.flatMap(({ failure }) => failure ?? []), ...writeFailures].find(
    ({ kind }) => kind === "forbidden",
  );
  if (refused !== undefined) return claim("Authorized", ["False", reasons.forbidden, refused.message]);
  if (preflight === undefined && !hasStarted(plan))
    return claim("Authorized", ["Unknown", reasons.notChecked, "Permissions have not been checked yet."]);
  return allAuthorized(plan);
}

function allAuthorized(plan: InstallPlan): ConditionUpdate {
  const words = `Service account ${plan.spec.serviceAccountName} has all required permissions`;
  return authorOf(plan) === undefined
    ? claim("Authorized", [
        "True",
        reasons.authorUnknown,
        `${words}; the author of the plan is not recorded.`,
      ])
    : claim("Authorized", ["True", reasons.authorized, `${words}.`]);
}

function approved(seen: Seen): ConditionUpdate {
  const approval = approvalOf(seen);
  switch (approval) {
    case "automatic":
      return claim("Approved", ["True", reasons.automatic, "The plan does not require approval."]);
    case "given":
      return claim("Approved", ["True", reasons.approved, "The plan is approved."]);
    case "missing":
      return claim("Approved", [
        "False",
        reasons.awaitingApproval,
        "The preview is waiting for spec.approved.",
      ]);
    case "outdated":
      return claim("Approved", [
        "False",
        reasons.awaitingApproval,
        "The approval covers a different preview; set spec.approvedPreview to the digest of the current one.",
      ]);
    default:
      return unreachable(approval);
  }
}

function applied({ plan, members, content, replacement: { successor } }: Seen): ConditionUpdate {
  if (successor?.isDone === true || plan.status?.phase === "Superseded")
    return claim("Applied", ["False", reasons.superseded, "Its objects belong to another plan."]);
  const open = members.filter(({ ownership }) => ownership.kind !== "owned");
  const total = members.length + content.unresolved.length;
  if (open.length === 0 && total > 0)
    return claim("Applied", ["True", reasons.applied, "All objects are applied."]);
  return claim("Applied", ["False", reasons.applying, "Some objects are not applied yet."]);
}

function drifted({ members }: Seen): ConditionUpdate {
  const found = members.filter(({ ownership, drift }) => ownership.kind === "owned" && hasDrifted(drift));
  if (found.length === 0) return claim("Drifted", ["False", reasons.asApplied, "No object has drifted."]);
  return claim("Drifted", ["True", reasons.drifted, found.slice(0, 5).map(describeDrift).join("; ")]);
}

function describeDrift({ member, drift }: MemberView): string {
  const paths = [...drift.paths, ...drift.additions].slice(0, 5).join(", ");
  const by = drift.manager === undefined ? "" : ` by ${drift.manager}`;
  return `${describeIdentity(member.identity)} was changed${by}: ${paths}`;
}

function contested({ members }: Seen): ConditionUpdate {
  const found = members.flatMap(({ member, revertConflict }) =>
    revertConflict === undefined ? [] : [{ member, revertConflict }],
  );
  if (found.length === 0)
    return claim("Contested", ["False", reasons.uncontested, "No other writer keeps changing the objects."]);
  const words = found
    .slice(0, 5)
    .map(
      ({ member, revertConflict }) =>
        `${revertConflict.manager} keeps changing ${describeIdentity(member.identity)}`,
    );
  return claim("Contested", ["True", reasons.contested, `${words.join("; ")}.`]);
}

function superseded({ replacement: { successor } }: Seen): ConditionUpdate {
  if (successor === undefined)
    return claim("Superseded", ["False", reasons.inForce, "No plan replaces this plan."]);
  if (successor.isDone)
    return claim("Superseded", ["True", reasons.superseded, `Plan ${successor.name} replaced this plan.`]);
  return claim("Superseded", ["False", reasons.replacing, `Plan ${successor.name} is taking over.`]);
}

/**
 * Everything that is wrong with the plan, as far as it is known. Which namespaces there are is said only to an account with
 * every permission that the plan needs in them.
 */
export function issuesOf({ content, replacement, preflight }: Seen): readonly Issue[] {
  const isAllowed = preflight?.missingPermissions.length === 0;
  const own = content.issues.filter(({ reason }) => isAllowed || reason !== "NamespaceMissing");
  return [...own, ...replacement.issues, ...(preflight?.issues ?? [])];
}

/** All issues in one text: where, which field, what. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues.map(describeIssue).join(" ");
}

function describeIssue({ stage, index, field, message }: Issue): string {
  const place = [
    ...(stage === undefined ? [] : [`stage ${stage}`]),
    ...(index === undefined ? [] : [`resource ${index}`]),
    ...(field === undefined ? [] : [field]),
  ].join(", ");
  return place === "" ? message : `${place}: ${message}`;
}
