import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { parseTestReport, type TestReport } from "./test-report.ts";

/**
 * All reports of the folder (one JSON file per level), in the order of their names; none when the folder is missing.
 * A report that cannot be read, e.g. because its runner was killed, counts as one broken test file.
 */
export function readReports(folder: string): readonly TestReport[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.toSorted().map((name) => readReport(join(folder, name)));
}

function readReport(path: string): TestReport {
  const level = basename(path, ".json");
  try {
    return parseTestReport(level, readFileSync(path, "utf8"));
  } catch (error) {
    return { level, files: [{ path, brokenBy: `this is no test report (${String(error)})`, tests: [] }] };
  }
}
