import type { Seen } from "../seen.ts";

const shortestMs = 1_000;
const longestMs = 60_000;

/**
 * How soon to look again for a Secret that holds a manifest. Secrets are not watched, because the operator may not be allowed to
 * read them: a tenth of the time waited so far finds a new one within seconds, and costs a plan that is left alone next to nothing.
 */
export function secretRetryMs({ unresolvedMs }: Pick<Seen, "unresolvedMs">): number {
  return Math.min(longestMs, Math.max(shortestMs, unresolvedMs / 10));
}
