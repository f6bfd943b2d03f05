/**
 * Orders two resourceVersions of one kind: below zero when `one` is older. They are decimal numbers of any length (comparable
 * by contract since Kubernetes 1.35), so length decides first and then the digits; a double could not hold them.
 */
export function compareVersions(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length;
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The newer of two. */
export function newerVersion(one: string, other: string): string {
  return compareVersions(one, other) < 0 ? other : one;
}
