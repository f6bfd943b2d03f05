import { expect, test } from "vitest";

import { summarize } from "../test-run/summarize.ts";
import { testFile, testReport, testResult } from "./report-builders.ts";

const good = testReport([testResult("adds"), testResult("subtracts")]);
const noExitCodes = new Map<string, number>();

const cases = [
  {
    name: "only passes",
    given: { reports: [good], exitCodes: new Map([["unit", 0]]) },
    want: { lines: ["2 passed, 0 failed"], isGood: true },
  },
  {
    name: "two levels, one failure",
    given: {
      reports: [
        good,
        testReport([testResult("divides", "failed", "\u001B[31mby zero\u001B[39m\n  at x")], "e2e"),
      ],
      exitCodes: new Map([["e2e", 1]]),
    },
    want: { lines: ["e2e: divides: by zero", "2 passed, 1 failed"], isGood: false },
  },
  {
    name: "a test that passed in the second run only",
    given: {
      reports: [
        testReport([testResult("adds"), { ...testResult("waits"), failedBefore: ["too late\n at"] }]),
      ],
      exitCodes: noExitCodes,
    },
    want: {
      lines: [
        "unit: flake, passed in the second run only: waits: too late",
        "1 flakes",
        "2 passed, 0 failed",
      ],
      flakes: [{ level: "unit", fullName: "waits", message: "too late" }],
      isGood: true,
    },
  },
  {
    name: "three flakes of two levels, which fail the run",
    given: {
      reports: [
        testReport(["a", "b"].map((name) => ({ ...testResult(name), failedBefore: ["late"] }))),
        testReport([{ ...testResult("c"), failedBefore: ["late"] }], "e2e"),
      ],
      exitCodes: noExitCodes,
    },
    want: {
      lines: [
        "unit: flake, passed in the second run only: a: late",
        "unit: flake, passed in the second run only: b: late",
        "e2e: flake, passed in the second run only: c: late",
        "3 flakes in one run: from 3 on the run fails",
        "3 flakes",
        "3 passed, 1 failed",
      ],
      flakes: [
        { level: "unit", fullName: "a", message: "late" },
        { level: "unit", fullName: "b", message: "late" },
        { level: "e2e", fullName: "c", message: "late" },
      ],
      isGood: false,
    },
  },
  {
    name: "a second run whose runner failed without a failed test",
    given: { reports: [good], exitCodes: new Map([["unit (second run)", 1]]) },
    want: {
      lines: [
        "unit (second run): the test runner itself failed with exit code 1; its output is above",
        "2 passed, 1 failed",
      ],
      isGood: false,
    },
  },
  {
    name: "a skipped test",
    given: {
      reports: [testReport([testResult("adds"), testResult("roots", "skipped")])],
      exitCodes: noExitCodes,
    },
    want: { lines: ["1 skipped", "1 passed, 0 failed"], isGood: true },
  },
  {
    name: "a file that broke on import",
    given: {
      reports: [{ level: "unit", files: [testFile([], "Cannot find module x\nstack"), ...good.files] }],
      exitCodes: noExitCodes,
    },
    want: {
      lines: ["unit: packages/a/test/unit/a.test.ts: Cannot find module x", "2 passed, 1 failed"],
      isGood: false,
    },
  },
  {
    name: "a runner that failed without a failed test",
    given: { reports: [good], exitCodes: new Map([["integration", 1]]) },
    want: {
      lines: [
        "integration: the test runner itself failed with exit code 1; its output is above",
        "2 passed, 1 failed",
      ],
      isGood: false,
    },
  },
  {
    name: "nothing at all",
    given: { reports: [], exitCodes: noExitCodes },
    want: { lines: ["no test ran", "0 passed, 0 failed"], isGood: false },
  },
  {
    name: "only skipped tests",
    given: { reports: [testReport([testResult("roots", "skipped")])], exitCodes: noExitCodes },
    want: { lines: ["no test ran", "1 skipped", "0 passed, 0 failed"], isGood: false },
  },
];

test.each(cases)("sums up $name", ({ given, want }) => {
  expect(summarize(given)).toEqual({ flakes: [], ...want });
});
