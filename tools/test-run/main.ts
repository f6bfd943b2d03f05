/**
 * `make test`: runs all levels, then the files that failed once more by themselves (report/second-run.ts). Prints what failed and
 * what passed only then, and `N passed, N failed` as the last line.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";

import { readReports } from "../report/read-reports.ts";
import { filesToRepeat } from "../report/second-run.ts";
import { hasFailures, summarize } from "./summarize.ts";

const folder = ".reports";
rmSync(folder, { recursive: true, force: true });

const exitCodes = new Map<string, number>();
for (const level of ["unit", "integration", "e2e"]) {
  const code = run("npm", ["run", "--silent", `test:${level}`]);
  const [report] = readReports(folder).filter((each) => each.level === level);
  // A runner that failed because of its tests is explained by them; what is left is a failure of the runner itself.
  exitCodes.set(level, report !== undefined && hasFailures(report) ? 0 : code);
  if (report === undefined) continue;
  const paths = filesToRepeat(report);
  if (paths.length === 0) continue;
  console.log(`${level}: ${paths.length} files failed; each runs once more, alone`);
  const json = ["--reporter=default", "--reporter=json", `--outputFile.json=${folder}/second/${level}.json`];
  run("vitest", ["run", "--project", level, "--no-file-parallelism", ...json, ...paths]);
}

const { lines, isGood } = summarize({ reports: readReports(folder), exitCodes });
console.log(lines.join("\n"));
process.exitCode = isGood ? 0 : 1;

function run(program: string, args: readonly string[]): number {
  return spawnSync(program, args, { stdio: ["ignore", "inherit", "inherit"] }).status ?? 1;
}
