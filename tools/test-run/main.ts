/**
 * `make test`: runs all levels, then the files that failed once more on their own (report/second-run.ts). Prints what failed and
 * what passed only then, and `N passed, N failed` as the last line.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { readReports } from "../report/read-reports.ts";
import { filesToRepeat } from "../report/second-run.ts";
import { type Flake, hasFailures, summarize } from "./summarize.ts";

const directory = ".reports";
// The record of flakes outlives the reports: a name that appears in it twice is a bug of the test or of the code.
const record = join(directory, "flakes.jsonl");
const earlier = existsSync(record) ? readFileSync(record, "utf8") : "";
rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
writeFileSync(record, earlier);

const exitCodes = new Map<string, number>();
for (const level of ["unit", "integration", "e2e"]) {
  const code = run("npm", ["run", "--silent", `test:${level}`]);
  const [report] = readReports(directory).filter((each) => each.level === level);
  // A runner that failed because of its tests is explained by them; what is left is a failure of the runner itself.
  exitCodes.set(level, report !== undefined && hasFailures(report) ? 0 : code);
  if (report === undefined) continue;
  const paths = filesToRepeat(report);
  if (paths.length === 0) continue;
  console.log(`${level}: ${paths.length} files failed; each runs once more, alone`);
  const json = [
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${directory}/second/${level}.json`,
  ];
  const second = run("vitest", ["run", "--project", level, "--no-file-parallelism", ...json, ...paths]);
  // Failed tests of the second run stay failed in the merged report; another reason, e.g. an unhandled rejection, counts here.
  const isExplained = readReports(directory).some((each) => each.level === level && hasFailures(each));
  exitCodes.set(`${level} (second run)`, isExplained ? 0 : second);
}

const { lines, flakes, isGood } = summarize({ reports: readReports(directory), exitCodes });
recordFlakes(record, flakes);
console.log(lines.join("\n"));
process.exitCode = isGood ? 0 : 1;

function run(program: string, args: readonly string[]): number {
  return spawnSync(program, args, { stdio: ["ignore", "inherit", "inherit"] }).status ?? 1;
}

/** One line per flake: when, which commit, which test. */
function recordFlakes(path: string, found: readonly Flake[]): void {
  const { stdout } = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" });
  const origin = { at: new Date().toISOString(), commit: stdout.trim() };
  for (const flake of found) appendFileSync(path, `${JSON.stringify({ ...origin, ...flake })}\n`);
}
