import { hasStarted } from "../model/plan-status.ts";
import type { Seen, WakeTrigger } from "../seen.ts";
import { isReadable } from "../transformations/transformed.ts";
import { allWakeTriggers } from "./wake-index.ts";

/** Objects elsewhere that a waiting plan depends on: their changes bring it back. */
export function wakeTriggers(seen: Seen): readonly WakeTrigger[] {
  return allWakeTriggers.filter((trigger) => tests[trigger](seen));
}

const tests: Readonly<Record<WakeTrigger, (seen: Seen) => boolean>> = {
  kinds: (seen) => isBlocked(seen) || hasIssue(seen, "KindMissing") || hasIssue(seen, "UnsafeCRD"),
  namespaces: (seen) => isBlocked(seen) || hasIssue(seen, "NamespaceMissing"),
  permissions: (seen) => lacksForeignPermissions(seen) || lacksPermissions(seen),
  // A webhook or a policy may have been what refused it, or is what a confirmation still lacks.
  admission: (seen) =>
    hasIssue(seen, "Rejected") || hasIssue(seen, "EarlierOwner") || seen.account.kind === "replaced",
  // Before the first write a predecessor decides what the preview shows, and others whether there is one.
  plans: ({ plan, replacement }) =>
    replacement.issues.length > 0 ||
    (!hasStarted(plan) && (plan.spec.replaces !== undefined || plan.spec.dependsOn !== undefined)),
};

/** Permissions of the operator, of the author, or to read what the plan is made from. */
function lacksForeignPermissions({ account, takeover, unwatchable, content, transformed }: Seen): boolean {
  return (
    account.kind !== "present" ||
    (takeover?.missing ?? []).length > 0 ||
    unwatchable.length > 0 ||
    content.unresolved.some(({ reason }) => reason === "PermissionsMissing") ||
    !transformed.every(isReadable)
  );
}

/** Permissions of the account to write. */
function lacksPermissions({ preflight, members, writeFailures }: Seen): boolean {
  return (
    (preflight?.missingPermissions ?? []).length > 0 ||
    writeFailures.some(({ kind }) => kind === "forbidden") ||
    members.some(({ failure }) => failure?.kind === "forbidden")
  );
}

function isBlocked({ members }: Seen): boolean {
  return members.some(({ blockedBy }) => blockedBy !== undefined);
}

function hasIssue({ content, preflight }: Seen, wanted: string): boolean {
  return [...content.issues, ...(preflight?.issues ?? [])].some(({ reason }) => reason === wanted);
}
