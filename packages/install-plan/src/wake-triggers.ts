import { hasStarted } from "./progress.ts";
import { allWakeTriggers, type WakeTrigger } from "./wake-index.ts";
import type { Seen } from "./world/seen.ts";
import { isReadable } from "./world/transformed.ts";

/** What has to change somewhere else for the plan to go on: a change there brings it back. */
export function wakeTriggersOf(seen: Seen): readonly WakeTrigger[] {
  return allWakeTriggers.filter((matter) => tests[matter](seen));
}

const tests: Readonly<Record<WakeTrigger, (seen: Seen) => boolean>> = {
  kinds: (seen) => isBlocked(seen) || hasIssue(seen, "KindMissing") || hasIssue(seen, "UnsafeCRD"),
  namespaces: (seen) => isBlocked(seen) || hasIssue(seen, "NamespaceMissing"),
  permissions: ({ account, takeover, unwatchable, preflight, members, setbacks, content, transformed }) =>
    (takeover?.missing.length ?? 0) > 0 ||
    unwatchable.length > 0 ||
    content.unresolved.some(({ reason }) => reason === "PermissionsMissing") ||
    !transformed.every(isReadable) ||
    account.kind !== "present" ||
    (preflight?.missingPermissions.length ?? 0) > 0 ||
    setbacks.some(({ kind }) => kind === "forbidden") ||
    members.some(({ failure }) => failure?.kind === "forbidden"),
  // A webhook or a policy may have been what refused it.
  admission: (seen) => hasIssue(seen, "Rejected"),
  // Before the first write a predecessor decides what the preview shows.
  plans: ({ plan, replacement }) =>
    replacement.issues.length > 0 || (plan.spec.replaces !== undefined && !hasStarted(plan)),
};

function isBlocked({ members }: Seen): boolean {
  return members.some(({ blockedBy }) => blockedBy !== undefined);
}

function hasIssue({ content, preflight }: Seen, wanted: string): boolean {
  return [...content.issues, ...(preflight?.issues ?? [])].some(({ reason }) => reason === wanted);
}
