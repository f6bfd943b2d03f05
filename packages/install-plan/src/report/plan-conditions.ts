import { firstTen, type InstallPlan } from "@quartermaster/api";
import { type ConditionUpdate, unreachable, type Why } from "@quartermaster/runtime";

import { authorOf, whyUnusable } from "../account/account.ts";
import { hasDrifted } from "../drift/drift.ts";
import { exceptionText } from "../drift/revert-exception.ts";
import { describeSuperseded, supersededBy } from "../handover/replaced.ts";
import { describeNeverThere } from "../handover/replacement.ts";
import { whyNoTakeover } from "../handover/takeover.ts";
import { describeUnwatchable } from "../inventory/unwatchable-kinds.ts";
import { describeIdentity } from "../model/identity.ts";
import { hasStarted, isInstalled } from "../model/plan-status.ts";
import { describePermission } from "../permissions/permission.ts";
import { describeIssues, issuesOf } from "../preflight/preflight.ts";
import { approvalOf } from "../preflight/preview.ts";
import { reasons } from "../reasons.ts";
import type { MemberView, Seen } from "../seen.ts";

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

type Stated = readonly [status: ConditionUpdate["status"], reason: string, message: string];

function claim(
  type: (typeof planConditionTypes)[number],
  [status, reason, message]: Stated,
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
  const isDecided = preflight?.missingPermissions.length === 0 && preflight.undecided.length === 0;
  const isKnown = hasStarted(seen.plan) || isDecided;
  if (!isKnown)
    return claim("Validated", ["Unknown", reasons.notChecked, "The objects have not been checked yet."]);
  const neverThere = describeNeverThere(seen.replacement);
  if (neverThere !== undefined)
    return claim("Validated", ["True", reasons.notReplaced, `All objects are valid. ${neverThere}`]);
  return claim("Validated", ["True", reasons.validated, "All objects are valid."]);
}

function authorized(seen: Seen): ConditionUpdate {
  const { preflight, plan } = seen;
  const lack = whyNoAccess(seen) ?? whyNoContent(seen) ?? whyNoTakeover(seen) ?? whyNotAllowed(seen);
  if (lack !== undefined) return claim("Authorized", ["False", lack.reason, lack.message]);
  if (preflight === undefined && !hasStarted(plan))
    return claim("Authorized", ["Unknown", reasons.notChecked, "Permissions have not been checked yet."]);
  return allAuthorized(plan);
}

/** The account cannot be used. */
function whyNoAccess({ account, plan }: Seen): Why | undefined {
  return account.kind === "present" ? undefined : whyUnusable(account, plan.spec.serviceAccountName);
}

/** The operator may not watch a kind, or the account lacks a permission, as far as that is known. */
function whyNotAllowed(seen: Seen): Why | undefined {
  const { unwatchable, preflight, plan, members, writeFailures } = seen;
  if (unwatchable.length > 0)
    return { reason: reasons.kindNotReadable, message: `${describeUnwatchable(unwatchable)}.` };
  const missing = preflight?.missingPermissions ?? [];
  if (missing.length > 0) {
    const text = missing.map(describePermission).join("; ");
    const message = `Service account ${plan.spec.serviceAccountName} may not ${text}.`;
    return { reason: reasons.permissionsMissing, message };
  }
  const refused = [...members.flatMap(({ failure }) => failure ?? []), ...writeFailures].find(
    ({ kind }) => kind === "forbidden",
  );
  return refused === undefined ? undefined : { reason: reasons.forbidden, message: refused.message };
}

/** The account may not read the Secret that holds a part of the content. */
function whyNoContent({ content }: Seen): Why | undefined {
  return content.unresolved.find(({ reason }) => reason === "PermissionsMissing");
}

function allAuthorized(plan: InstallPlan): ConditionUpdate {
  const text = `Service account ${plan.spec.serviceAccountName} has all required permissions`;
  return authorOf(plan) === undefined
    ? claim("Authorized", ["True", reasons.authorUnknown, `${text}; the author of the plan is not recorded.`])
    : claim("Authorized", ["True", reasons.authorized, `${text}.`]);
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

function applied(seen: Seen): ConditionUpdate {
  const { plan, members, content } = seen;
  if (supersededBy(seen) !== undefined)
    return claim("Applied", ["False", reasons.superseded, "Its objects belong to another plan."]);
  // A Job that has had its time was applied; a plan of jobs alone has nothing to apply.
  const open = members.filter(({ ownership, isExpired }) => ownership.kind !== "owned" && isExpired !== true);
  if (open.length === 0 && content.unresolved.length === 0 && hasStarted(plan))
    return claim("Applied", ["True", reasons.applied, "All objects are applied."]);
  if (isInstalled(plan))
    return claim("Applied", ["False", reasons.missing, "Some objects are missing or belong to others."]);
  return claim("Applied", ["False", reasons.applying, "Some objects are not applied yet."]);
}

function drifted({ members }: Seen): ConditionUpdate {
  const found = members.filter(({ ownership, drift }) => ownership.kind === "owned" && hasDrifted(drift));
  const kept = exceptionsIn(members);
  if (found.length === 0)
    return claim("Drifted", ["False", reasons.asApplied, ["No object has drifted.", ...kept].join(" ")]);
  const text = found.slice(0, 5).map(describeDrift).join("; ");
  return claim("Drifted", ["True", reasons.drifted, [text, ...kept].join(kept.length === 0 ? "" : ". ")]);
}

/** Objects that an annotation keeps out of drift repair, drifted or not: the plan's promise does not hold for them. */
function exceptionsIn(members: Seen["members"]): readonly string[] {
  const found = members.flatMap(({ member, exception }) =>
    exception === undefined ? [] : [`${describeIdentity(member.identity)}: ${exceptionText(exception)}`],
  );
  return found.length === 0 ? [] : [`${firstTen(found)}.`];
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
  const text = found
    .slice(0, 5)
    .map(
      ({ member, revertConflict }) =>
        `${revertConflict.manager} keeps changing ${describeIdentity(member.identity)}`,
    );
  return claim("Contested", ["True", reasons.contested, `${text.join("; ")}.`]);
}

function superseded(seen: Seen): ConditionUpdate {
  const found = supersededBy(seen);
  if (found !== undefined)
    return claim("Superseded", [
      "True",
      found.isDeleted ? reasons.successorDeleted : reasons.superseded,
      describeSuperseded(found),
    ]);
  const { successor } = seen.replacement;
  if (successor === undefined)
    return claim("Superseded", ["False", reasons.inForce, "No plan replaces this plan."]);
  return claim("Superseded", ["False", reasons.replacing, `Plan ${successor.name} is taking over.`]);
}
