/**
 * Orders dotted versions by their first three numbers. A leading `v` or `go` and a suffix are ignored, and a part that is no number
 * counts as 0.
 *
 * @example
 * compareDottedVersions("v1.36.0", "1.9.3"); // > 0
 */
export function compareDottedVersions(one: string, other: string): number {
  const [left, right] = [numbersOf(one), numbersOf(other)];
  return (
    [0, 1, 2].map((at) => (left[at] ?? 0) - (right[at] ?? 0)).find((difference) => difference !== 0) ?? 0
  );
}

function numbersOf(version: string): readonly number[] {
  return version
    .slice(0, 64)
    .replace(/^[a-z]+/i, "")
    .split("-", 1)
    .flatMap((numbers) => numbers.split("."))
    .map((part) => Number(/^\d{1,9}(?!\d)/.exec(part)?.[0] ?? 0));
}
