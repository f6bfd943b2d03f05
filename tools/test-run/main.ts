/**
 * `make test`: runs the tests that need no cluster, then the other two levels beside each other: real nodes mostly wait, and the
 * shared control plane uses what they leave of the CPU. Files that failed run once more by themselves (report/second-run.ts).
 * Prints what failed and what passed only then, and `N passed, N failed` as the last line.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { readReports } from "../report/read-reports.ts";
import { filesToRepeat } from "../report/second-run.ts";
import { hasFailures, summarize } from "./summarize.ts";

const folder = ".reports";
rmSync(folder, { recursive: true, force: true });

const exitCodes = new Map<string, number>();
for (const levels of [["unit"], ["integration", "e2e"]]) {
  await Promise.all(levels.map(runLevel));
  for (const level of levels) await repeatFailed(level);
}

const { lines, isGood } = summarize({ reports: readReports(folder), exitCodes });
console.log(lines.join("\n"));
process.exitCode = isGood ? 0 : 1;

async function runLevel(level: string): Promise<void> {
  const code = await run(level, ["npm", "run", "--silent", `test:${level}`]);
  const report = reportOf(level);
  // A runner that failed because of its tests is explained by them; what is left is a failure of the runner itself.
  exitCodes.set(level, report !== undefined && hasFailures(report) ? 0 : code);
}

async function repeatFailed(level: string): Promise<void> {
  const report = reportOf(level);
  const paths = report === undefined ? [] : filesToRepeat(report);
  if (paths.length === 0) return;
  console.log(`${level}: ${paths.length} files failed; each runs once more, alone`);
  const json = ["--reporter=default", "--reporter=json", `--outputFile.json=${folder}/second/${level}.json`];
  await run(level, ["vitest", "run", "--project", level, "--no-file-parallelism", ...json, ...paths]);
}

function reportOf(level: string) {
  return readReports(folder).find((each) => each.level === level);
}

/** Runs a program and prints its lines behind the name of the level. Returns its exit code. */
async function run(level: string, [program = "", ...args]: readonly string[]): Promise<number> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) void printLines(level, stream);
  await once(child, "close");
  return child.exitCode ?? 1;
}

async function printLines(level: string, stream: Readable): Promise<void> {
  for await (const line of createInterface({ input: stream })) console.log(`${level} | ${line}`);
}
