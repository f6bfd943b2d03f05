import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { mergeSecondRun } from "./second-run.ts";
import { parseTestReport, type TestReport } from "./test-report.ts";

/**
 * All reports of the directory (one JSON file per level), in the order of their names; none when the directory is missing. What ran
 * a second time is below `second/` and is merged.
 * A report that cannot be read, e.g. because its runner was killed, counts as one broken test file.
 */
export function readReports(directory: string): readonly TestReport[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((name) => name.endsWith(".json"));
  return names.toSorted().map((name) => {
    const [first, second] = [join(directory, name), join(directory, "second", name)];
    return existsSync(second) ? mergeSecondRun(readReport(first), readReport(second)) : readReport(first);
  });
}

function readReport(path: string): TestReport {
  const level = basename(path, ".json");
  try {
    return parseTestReport(level, readFileSync(path, "utf8"));
  } catch (error) {
    return { level, files: [{ path, brokenBy: `this is no test report (${String(error)})`, tests: [] }] };
  }
}
