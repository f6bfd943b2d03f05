/** One case a test claims to show, e.g. `local-cluster` and `LC-01`. */
export interface CaseName {
  readonly list: string;
  readonly id: string;
}

const leadingBracket = /^\s*\[(?<list>[a-z-]+)\/(?<ids>[A-Za-z0-9-]+(?:, ?[A-Za-z0-9-]+)*)\]/;

/** The cases named by the brackets a test's name starts with: `[a/1]`, `[a/1] [b/2]` and `[a/1,2]`. */
export function parseCaseNames(testName: string): readonly CaseName[] {
  const match = leadingBracket.exec(testName);
  const { list, ids } = match?.groups ?? {};
  if (match === null || list === undefined || ids === undefined) return [];
  const here = ids.split(",").map((id) => ({ list, id: id.trim() }));
  return [...here, ...parseCaseNames(testName.slice(match[0].length))];
}
