import { describe, expect, test } from "vitest";

import { filesToRepeat, mergeSecondRun } from "../report/second-run.ts";
import { testFile, testReport, testResult } from "./report-builders.ts";

const passed = testResult("waits");
const failed = testResult("waits", "failed", "late");
const level = "integration";

describe("which files run a second time", () => {
  const files = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ ...testFile([failed]), path: `${at}.test.ts` }));

  test.each([
    { name: "none of a good run", given: [testFile([passed])], want: 0 },
    { name: "one with a failed test", given: files(1), want: 1 },
    { name: "one that broke outside its tests", given: [testFile([], "no server")], want: 1 },
    { name: "six", given: files(6), want: 6 },
    { name: "none of seven: that is no accident", given: files(7), want: 0 },
  ])("$name", ({ given, want }) => {
    expect(filesToRepeat({ level, files: given })).toHaveLength(want);
  });
});

describe("a second run", () => {
  test.each([
    {
      name: "passes: passed, with its first message",
      again: [passed],
      status: "passed",
      failedBefore: ["late"],
    },
    { name: "fails again: failed", again: [failed], status: "failed", failedBefore: undefined },
    {
      name: "skips it: failed",
      again: [testResult("waits", "skipped")],
      status: "failed",
      failedBefore: undefined,
    },
    {
      name: "does not have it: failed",
      again: [testResult("other")],
      status: "failed",
      failedBefore: undefined,
    },
    {
      name: "has one of two equal names failed: failed",
      again: [passed, failed],
      status: "failed",
      failedBefore: undefined,
    },
  ])("of a failed test $name", ({ again, status, failedBefore }) => {
    const [merged] = mergeSecondRun(testReport([failed], level), testReport(again, level)).files;
    expect(merged?.tests[0]?.status).toBe(status);
    expect(merged?.tests[0]?.failedBefore).toEqual(failedBefore);
  });

  test("does not take a pass away", () => {
    const first = testReport([passed, testResult("other", "failed", "late")], level);
    const again = testReport([failed, testResult("other")], level);
    const statuses = mergeSecondRun(first, again).files[0]?.tests.map(({ status }) => status);
    expect(statuses).toEqual(["passed", "passed"]);
  });

  test("of a file that broke says what counts", () => {
    const first = { level, files: [testFile([], "no server")] };
    const [merged] = mergeSecondRun(first, {
      level,
      files: [testFile([passed, { ...failed, fullName: "b" }])],
    }).files;
    expect(merged?.brokenBy).toBeUndefined();
    expect(merged?.tests.map(({ status, failedBefore }) => ({ status, failedBefore }))).toEqual([
      { status: "passed", failedBefore: ["no server"] },
      { status: "failed", failedBefore: ["no server"] },
    ]);
  });
});
