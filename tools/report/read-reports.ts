import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import { parseTestReport, type TestReport } from "./test-report.ts";

/** All reports of the folder (one JSON file per level), in the order of their names; none when the folder is missing. */
export function readReports(folder: string): readonly TestReport[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.toSorted().map((name) => {
    return parseTestReport(basename(name, ".json"), readFileSync(join(folder, name), "utf8"));
  });
}
