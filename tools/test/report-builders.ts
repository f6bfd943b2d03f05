import type { TestFile, TestReport, TestResult, TestStatus } from "../report/test-report.ts";

/** A test of the given name that ended so. */
export function testResult(title: string, status: TestStatus = "passed", message?: string): TestResult {
  return { title, fullName: title, status, messages: message === undefined ? [] : [message] };
}

/** A file holding the tests; with `brokenBy` it failed outside of them. */
export function testFile(tests: readonly TestResult[], brokenBy?: string): TestFile {
  return { path: "packages/a/test/unit/a.test.ts", brokenBy, tests };
}

/** A report of one level with one file. */
export function testReport(tests: readonly TestResult[], level = "unit"): TestReport {
  return { level, files: [testFile(tests)] };
}
