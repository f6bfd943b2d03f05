import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Least level at which a case counts as shown, as the specification names it. */
export type CaseLevel = (typeof caseLevels)[number];

/** Tables are pure, `api` needs a real API server; the last four need the real thing that they name. */
export const caseLevels = ["table", "api", "engine", "node", "browser", "campaign"] as const;

/** The cases of one specification: `name` is the file in docs/acceptance without `.md`. */
export interface CaseList {
  readonly name: string;
  readonly ids: readonly string[];
  /** Levels of the cases that have one: `| SC-12 | [engine] Three managers … |`. */
  readonly levels: ReadonlyMap<string, CaseLevel>;
}

const row = /^\| *(?<id>[A-Za-z0-9][A-Za-z0-9-]*) *\| *(?:\[(?<level>[a-z]+)\])?/;

/** Reads ids and levels out of the tables `| id | case |` of one acceptance file, in their order. Throws for an unknown level. */
export function parseCaseList(name: string, markdown: string): CaseList {
  const ids: string[] = [];
  const levels = new Map<string, CaseLevel>();
  for (const line of markdown.split("\n")) {
    const { id, level } = row.exec(line)?.groups ?? {};
    if (id === undefined || id === "id") continue;
    ids.push(id);
    if (level !== undefined) levels.set(id, parseLevel(level, `${name}/${id}`));
  }
  return { name, ids, levels };
}

function parseLevel(text: string, where: string): CaseLevel {
  const level = caseLevels.find((each) => each === text);
  if (level === undefined)
    throw new Error(`${where} has the level [${text}]; write one of ${caseLevels.join(", ")}`);
  return level;
}

/** The case lists of all acceptance files in the directory, in the order of their names. */
export function readCaseLists(directory: string): readonly CaseList[] {
  const names = readdirSync(directory).filter((name) => name.endsWith(".md") && name !== "README.md");
  return names.toSorted().map((name) => {
    return parseCaseList(basename(name, ".md"), readFileSync(join(directory, name), "utf8"));
  });
}

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
