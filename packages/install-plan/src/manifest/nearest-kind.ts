import { groupOf, type KindName } from "@quartermaster/runtime";

/**
 * The kind that the author of an unknown one most likely means, from what the server serves: the same kind under another apiVersion, or
 * a kind of the same apiVersion that is spelled almost like it. Undefined where nothing is near.
 */
export function nearestKind(unknown: KindName, served: Iterable<KindName>): string | undefined {
  const known = [...served];
  const elsewhere = known
    .filter(({ kind }) => kind.toLowerCase() === unknown.kind.toLowerCase())
    .toSorted((one, other) => farness(one, unknown) - farness(other, unknown) || order(one, other));
  const [first] = elsewhere;
  if (first !== undefined) return describe(first, unknown);
  const alike = known
    .filter(({ apiVersion }) => apiVersion === unknown.apiVersion)
    .map((name) => ({ name, slips: slipsBetween(name.kind.toLowerCase(), unknown.kind.toLowerCase()) }))
    .filter(({ slips }) => slips <= slipsAllowed)
    .toSorted((one, other) => one.slips - other.slips || order(one.name, other.name));
  return alike[0]?.name.kind;
}

/** Only differences are named. */
function describe({ apiVersion, kind }: KindName, unknown: KindName): string {
  if (apiVersion === unknown.apiVersion) return kind;
  return kind === unknown.kind ? apiVersion : `${kind} of ${apiVersion}`;
}

/** A version of the same group first, then groups that are spelled alike, then any. */
function farness({ apiVersion }: KindName, unknown: KindName): number {
  const [group, wanted] = [groupOf(apiVersion), groupOf(unknown.apiVersion)];
  if (group === wanted) return 0;
  return slipsBetween(group, wanted) <= slipsAllowed ? 1 : 2;
}

function order(one: KindName, other: KindName): number {
  return `${one.apiVersion}/${one.kind}`.localeCompare(`${other.apiVersion}/${other.kind}`);
}

const slipsAllowed = 2;

/** Letters to change, add or leave out to come from one word to the other; Levenshtein's distance. */
function slipsBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > slipsAllowed) return slipsAllowed + 1;
  let previous = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [row, letter] of Array.from(one).entries()) {
    const current = [row + 1];
    for (let column = 1; column <= other.length; column += 1) {
      const changed = (previous[column - 1] ?? 0) + (other[column - 1] === letter ? 0 : 1);
      current.push(Math.min(changed, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[other.length] ?? 0;
}
