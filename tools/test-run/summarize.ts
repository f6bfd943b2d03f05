import { stripVTControlCharacters } from "node:util";

import type { TestFile, TestReport } from "../report/test-report.ts";

/** What was run: the reports, and the exit code of each level's runner where it is known. */
export interface Run {
  readonly reports: readonly TestReport[];
  readonly exitCodes: ReadonlyMap<string, number>;
}

/** A test that failed and passed when its file ran again alone. */
export interface Flake {
  readonly level: string;
  readonly fullName: string;
  /** First line of the failure of the first run. */
  readonly message: string;
}

/** With this many flakes a run fails: so many are no accident of a busy machine. */
const flakesThatFail = 3;

/** Lines to print, the last one being `N passed, N failed`, and whether the whole run is good. */
export interface Summary {
  readonly lines: readonly string[];
  readonly flakes: readonly Flake[];
  readonly isGood: boolean;
}

/**
 * Counts tests over all levels. A file that broke outside its tests, and a runner that failed without a failed test,
 * count as one failure each, so that the last line never looks better than the run was.
 */
export function summarize({ reports, exitCodes }: Run): Summary {
  const failures = [...reports.flatMap(failuresOf), ...runnerFailures({ reports, exitCodes })];
  const passed = count(reports, "passed");
  const skipped = count(reports, "skipped");
  const hasRun = passed + failures.length > 0;
  const flaky = reports.flatMap(flakesOf);
  const tooMany =
    flaky.length < flakesThatFail
      ? []
      : [`${flaky.length} flakes in one run: from ${flakesThatFail} on the run fails`];
  const notes = [...(hasRun ? [] : ["no test ran"]), ...(skipped > 0 ? [`${skipped} skipped`] : [])];
  return {
    // Nothing else may stand on the last line: programs read it.
    lines: [
      ...flaky.map(
        ({ level, fullName, message }) =>
          `${level}: flake, passed in the second run only: ${fullName}: ${message}`,
      ),
      ...failures,
      ...tooMany,
      ...notes,
      ...(flaky.length > 0 ? [`${flaky.length} flakes`] : []),
      `${passed} passed, ${failures.length + tooMany.length} failed`,
    ],
    flakes: flaky,
    isGood: hasRun && failures.length === 0 && tooMany.length === 0,
  };
}

/** Whether something in a report failed. */
export function hasFailures(report: TestReport): boolean {
  return failuresOf(report).length > 0;
}

function flakesOf({ level, files }: TestReport): readonly Flake[] {
  const tests = files.flatMap((file) => file.tests);
  return tests.flatMap(({ fullName, failedBefore }) =>
    failedBefore === undefined ? [] : [{ level, fullName, message: firstLine(failedBefore[0]) }],
  );
}

function count(reports: readonly TestReport[], status: "passed" | "skipped"): number {
  const tests = reports.flatMap(({ files }) => files.flatMap((file) => file.tests));
  return tests.filter((test) => test.status === status).length;
}

function failuresOf({ level, files }: TestReport): readonly string[] {
  return files.flatMap((file) => fileFailures(file)).map((failure) => `${level}: ${failure}`);
}

function fileFailures({ path, brokenBy, tests }: TestFile): readonly string[] {
  const failed = tests.filter(({ status }) => status === "failed");
  const lines = failed.map(({ fullName, messages }) => `${fullName}: ${firstLine(messages[0])}`);
  return brokenBy === undefined ? lines : [...lines, `${path}: ${firstLine(brokenBy)}`];
}

function runnerFailures({ reports, exitCodes }: Run): readonly string[] {
  const explained = new Set(reports.filter(hasFailures).map(({ level }) => level));
  return [...exitCodes]
    .filter(([run, code]) => code !== 0 && !explained.has(run))
    .map(
      ([level, code]) =>
        `${level}: the test runner itself failed with exit code ${code}; its output is above`,
    );
}

function firstLine(text = ""): string {
  const [line = ""] = stripVTControlCharacters(text).trim().split("\n");
  return line === "" ? "no message" : line;
}
