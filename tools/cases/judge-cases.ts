import type { TestReport, TestResult, TestStatus } from "../report/test-report.ts";
import type { CaseList } from "./case-list.ts";
import { parseCaseNames } from "./case-names.ts";

/** How the cases of one specification stand. A case with only skipped tests is missing; `skipped` lists every case with a skipped test. */
export interface Standing {
  readonly name: string;
  readonly total: number;
  readonly met: readonly string[];
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
  const known = new Set(lists.flatMap(({ name, ids }) => ids.map((id) => `${name}/${id}`)));
  return {
    standings: lists.map((list) => judgeList(list, shown)),
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
  for (const { title, fullName, status } of tests) {
    for (const { list, id } of [...parseCaseNames(title), ...parseCaseNames(fullName)]) {
      const key = `${list}/${id}`;
      shown.set(key, (shown.get(key) ?? new Set()).add(status));
    }
  }
  return shown;
}

function judgeList({ name, ids }: CaseList, shown: Shown): Standing {
  const has = (id: string, status: TestStatus): boolean => shown.get(`${name}/${id}`)?.has(status) ?? false;
  const failing = ids.filter((id) => has(id, "failed"));
  const met = ids.filter((id) => has(id, "passed") && !has(id, "failed"));
  const missing = ids.filter((id) => !failing.includes(id) && !met.includes(id));
  return {
    name,
    total: ids.length,
    met,
    failing,
    missing,
    skipped: ids.filter((id) => has(id, "skipped")),
  };
}
