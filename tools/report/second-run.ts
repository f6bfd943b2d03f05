import type { TestFile, TestReport } from "./test-report.ts";

/** More failed files than this are no accident of a busy machine: none of them runs again. */
const mostFiles = 6;

/** The files of a level that run once more, by path: those with a failure, if they are few. */
export function filesToRepeat({ files }: TestReport): readonly string[] {
  const failed = files.filter(isFailed).map(({ path }) => path);
  return failed.length > mostFiles ? [] : failed;
}

/**
 * A report together with that of the second run. A test that failed and passed in the second run has passed, and keeps what
 * it said at first, so that it is listed. A file that broke is replaced by what its second run says. Nothing else changes: a
 * test that passed stays passed, one that the second run does not have stays failed.
 */
export function mergeSecondRun(first: TestReport, second: TestReport): TestReport {
  const byPath = new Map(second.files.map((file) => [file.path, file]));
  return { ...first, files: first.files.map((file) => mergeFile(file, byPath.get(file.path))) };
}

function mergeFile(file: TestFile, again: TestFile | undefined): TestFile {
  if (!isFailed(file) || again === undefined) return file;
  if (file.brokenBy !== undefined) {
    const { brokenBy } = file;
    return { ...again, tests: again.tests.map((test) => ({ ...test, failedBefore: [brokenBy] })) };
  }
  const tests = file.tests.map((test) => {
    const named = again.tests.filter(({ fullName }) => fullName === test.fullName);
    const hasPassed = named.length > 0 && named.every(({ status }) => status === "passed");
    return test.status === "failed" && hasPassed
      ? { ...test, status: "passed" as const, messages: [], failedBefore: test.messages }
      : test;
  });
  return { ...file, tests };
}

function isFailed({ brokenBy, tests }: TestFile): boolean {
  return brokenBy !== undefined || tests.some(({ status }) => status === "failed");
}
