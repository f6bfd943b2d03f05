import type { AuditEntry, AuditLog, AuditPosition } from "@quartermaster/testkit";

/** Who asks, by the beginning of the user agent. */
export const agents = {
  ours: "quartermaster-operator",
  kubectl: "kubectl",
  helm: "Helm",
  kapp: "kapp",
} as const;

/** Requests by verb; dry runs apart. */
export type Requests = Readonly<Record<string, number>>;

/** What another client asked of the server since the mark. Events and the opening of watches are left out. */
export async function requestsSince(
  audit: AuditLog,
  position: AuditPosition,
  agent: string,
): Promise<Requests> {
  const counts: Record<string, number> = {};
  for (const entry of await audit.since(position)) {
    if (!entry.userAgent.startsWith(agent) || entry.verb === "watch" || entry.resource === "events") continue;
    const text = labelFor(entry);
    counts[text] = (counts[text] ?? 0) + 1;
  }
  return counts;
}

/** Writes of the plan itself, its status among them, are reported apart from those of its objects. */
function labelFor({ verb, path, resource }: AuditEntry): string {
  if (resource === "installplans") return `${verb} plan`;
  return path.includes("dryRun=") ? `${verb} (dry run)` : verb;
}

/** How many were about anything but the plan itself. */
export function totalAboutObjects(requests: Requests): number {
  return total(Object.fromEntries(Object.entries(requests).filter(([verb]) => !verb.endsWith(" plan"))));
}

/** How many in all. */
export function total(requests: Requests): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

/** `1,003: create 1, patch 1,000, get 2`, most first. */
export function describeRequests(requests: Requests): string {
  const parts = Object.entries(requests)
    .toSorted(([, one], [, other]) => other - one)
    .map(([verb, count]) => `${verb} ${count}`);
  return parts.length === 0 ? "none" : `${total(requests)}: ${parts.join(", ")}`;
}
