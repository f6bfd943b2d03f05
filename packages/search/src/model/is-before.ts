/** Whether a version such as `2.19.4` is older than major.minor. One that cannot be read counts as new. */
export function isBefore(version: string, major: number, minor: number): boolean {
  const [, first, second] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (first === undefined || second === undefined) return false;
  return Number(first) < major || (Number(first) === major && Number(second) < minor);
}
