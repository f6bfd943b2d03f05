import { stripVTControlCharacters } from "node:util";

import type { TestFile, TestReport } from "../report/test-report.ts";

/** What was run: the reports, and the exit code of each level's runner where it is known. */
export interface Run {
  readonly reports: readonly TestReport[];
  readonly exitCodes: ReadonlyMap<string, number>;
}

/** Lines to print, the last one being `N passed, N failed`, and whether the whole run is good. */
export interface Summary {
  readonly lines: readonly string[];
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
  const flaky = reports.flatMap(flakyOf);
  const notes = [...(hasRun ? [] : ["no test ran"]), ...(skipped > 0 ? [`${skipped} skipped`] : [])];
  return {
    // Nothing else may stand on the last line: programs read it.
    lines: [...flaky, ...failures, ...notes, `${passed} passed, ${failures.length} failed`],
    isGood: hasRun && failures.length === 0,
  };
}

/** Whether something in a report failed. */
export function hasFailures(report: TestReport): boolean {
  return failuresOf(report).length > 0;
}

function flakyOf({ level, files }: TestReport): readonly string[] {
  const tests = files.flatMap((file) => file.tests);
  return tests.flatMap(({ fullName, failedBefore }) =>
    failedBefore === undefined
      ? []
      : [`${level}: passed in the second run only: ${fullName}: ${firstLine(failedBefore[0])}`],
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
    .filter(([level, code]) => code !== 0 && !explained.has(level))
    .map(
      ([level, code]) =>
        `${level}: the test runner itself failed with exit code ${code}; its output is above`,
    );
}

function firstLine(text = ""): string {
  const [line = ""] = stripVTControlCharacters(text).trim().split("\n");
  return line === "" ? "no message" : line;
}
