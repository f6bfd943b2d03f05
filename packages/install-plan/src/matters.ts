import { hasStarted } from "./progress.ts";
import { allMatters, type Matter } from "./waiting-room.ts";
import type { Seen } from "./world/seen.ts";
import { isReadable } from "./world/transformed.ts";

/** What has to change somewhere else for the plan to go on: a change there brings it back. */
export function mattersOf(seen: Seen): readonly Matter[] {
  return allMatters.filter((matter) => tests[matter](seen));
}

const tests: Readonly<Record<Matter, (seen: Seen) => boolean>> = {
  kinds: (seen) => isBlocked(seen) || hasIssue(seen, "KindMissing") || hasIssue(seen, "UnsafeCRD"),
  namespaces: (seen) => isBlocked(seen) || hasIssue(seen, "NamespaceMissing"),
  rights: ({ account, takeover, unwatchable, clearance, members, setbacks, content, transformed }) =>
    (takeover?.missing.length ?? 0) > 0 ||
    unwatchable.length > 0 ||
    content.unresolved.some(({ reason }) => reason === "PermissionsMissing") ||
    !transformed.every(isReadable) ||
    account.kind !== "present" ||
    (clearance?.missingRights.length ?? 0) > 0 ||
    setbacks.some(({ kind }) => kind === "forbidden") ||
    members.some(({ trouble }) => trouble?.kind === "forbidden"),
  // A webhook or a policy may have been what refused it.
  admission: (seen) => hasIssue(seen, "Rejected"),
  // Before the first write a predecessor decides what the preview shows.
  plans: ({ plan, replacement }) =>
    replacement.issues.length > 0 || (plan.spec.replaces !== undefined && !hasStarted(plan)),
};

function isBlocked({ members }: Seen): boolean {
  return members.some(({ blockedBy }) => blockedBy !== undefined);
}

function hasIssue({ content, clearance }: Seen, wanted: string): boolean {
  return [...content.issues, ...(clearance?.issues ?? [])].some(({ reason }) => reason === wanted);
}
