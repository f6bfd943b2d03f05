import type { TestReport, TestResult, TestStatus } from "../report/test-report.ts";
import { type CaseLevel, type CaseList, parseCaseNames } from "./case-list.ts";

/** How the cases of one specification stand. A case with only skipped tests is missing; `skipped` lists every case with a skipped test. */
export interface Standing {
  readonly name: string;
  readonly total: number;
  readonly met: readonly string[];
  /** Cases that only tests below their level show, each with that level; a part of `met`. */
  readonly belowLevel: readonly string[];
  readonly failing: readonly string[];
  readonly missing: readonly string[];
  readonly skipped: readonly string[];
}

/** The whole picture; `unknown` holds ids that tests name and no list has, `broken` test files that did not run. */
export interface Judgement {
  readonly standings: readonly Standing[];
  readonly unknown: readonly string[];
  readonly broken: readonly string[];
}

/** Compares what the specifications ask with what the tests showed. One failed test makes its case fail. */
export function judgeCases(lists: readonly CaseList[], reports: readonly TestReport[]): Judgement {
  const files = reports.flatMap((report) => report.files);
  const shown = collectStatuses(files.flatMap((file) => file.tests));
  const levels = collectLevels(reports);
  const known = new Set(lists.flatMap(({ name, ids }) => ids.map((id) => `${name}/${id}`)));
  return {
    standings: lists.map((list) => judgeList(list, shown, levels)),
    unknown: [...shown.keys()].filter((key) => !known.has(key)).toSorted(),
    broken: files.filter(({ brokenBy }) => brokenBy !== undefined).map(({ path }) => path),
  };
}

/** Exit code of `make cases`: 0 when every case is met, 3 when cases are missing and nothing fails, 1 otherwise. */
export function exitCodeOf(judgement: Judgement): 0 | 1 | 3 {
  if (!isGood(judgement)) return 1;
  return judgement.standings.every(({ missing }) => missing.length === 0) ? 0 : 3;
}

/** Whether nothing fails; a missing case is no failure. */
function isGood({ standings, unknown, broken }: Judgement): boolean {
  return (
    unknown.length === 0 && broken.length === 0 && standings.every(({ failing }) => failing.length === 0)
  );
}

type Shown = ReadonlyMap<string, ReadonlySet<TestStatus>>;

function collectStatuses(tests: readonly TestResult[]): Shown {
  const shown = new Map<string, Set<TestStatus>>();
  for (const test of tests)
    for (const key of caseKeys(test)) shown.set(key, (shown.get(key) ?? new Set()).add(test.status));
  return shown;
}

type ShownLevels = ReadonlyMap<string, ReadonlySet<CaseLevel>>;

/** Levels at which passed tests show each case. */
function collectLevels(reports: readonly TestReport[]): ShownLevels {
  const levels = new Map<string, ReadonlySet<CaseLevel>>();
  for (const { level, path, test } of passedTests(reports)) {
    const shownHere = new Set(levelsShownBy(level, path));
    for (const key of caseKeys(test)) levels.set(key, shownHere.union(levels.get(key) ?? new Set()));
  }
  return levels;
}

interface PassedTest {
  readonly level: string;
  readonly path: string;
  readonly test: TestResult;
}

function passedTests(reports: readonly TestReport[]): readonly PassedTest[] {
  const all = reports.flatMap(({ level, files }) =>
    files.flatMap(({ path, tests }) => tests.map((test) => ({ level, path, test }))),
  );
  return all.filter(({ test }) => test.status === "passed");
}

/** Ids that a test names itself, or that the describe around it names. */
function caseKeys({ title, fullName }: TestResult): readonly string[] {
  return [...parseCaseNames(title), ...parseCaseNames(fullName)].map(({ list, id }) => `${list}/${id}`);
}

/** A contract suite of an engine runs the real one, beside the fake that it holds to it. */
const engineFile = /\/(?:opensearch|elasticsearch)-[a-z-]*contract\.test\.ts$/;

/** What a test of that level may stand for; a stronger level always shows a weaker one. */
function levelsShownBy(reportLevel: string, path: string): readonly CaseLevel[] {
  if (reportLevel === "unit") return ["table"];
  if (reportLevel === "integration")
    return engineFile.test(path) ? ["table", "api", "engine"] : ["table", "api"];
  return ["table", "api", "engine", "node", "browser"];
}

function judgeList({ name, ids, levels }: CaseList, shown: Shown, shownLevels: ShownLevels): Standing {
  const has = (id: string, status: TestStatus): boolean => shown.get(`${name}/${id}`)?.has(status) ?? false;
  const failing = ids.filter((id) => has(id, "failed"));
  const met = ids.filter((id) => has(id, "passed") && !has(id, "failed"));
  const missing = ids.filter((id) => !failing.includes(id) && !met.includes(id));
  return {
    name,
    total: ids.length,
    met,
    belowLevel: met.flatMap((id) => {
      const level = levels.get(id);
      if (level === undefined || shownLevels.get(`${name}/${id}`)?.has(level) === true) return [];
      return [`${id} [${level}]`];
    }),
    failing,
    missing,
    skipped: ids.filter((id) => has(id, "skipped")),
  };
}
