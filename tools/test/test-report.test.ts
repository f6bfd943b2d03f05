import { expect, test } from "vitest";

import { parseTestReport } from "../report/test-report.ts";

const passed = { title: "adds", fullName: "sums adds", status: "passed", failureMessages: [] };
const pending = { title: "roots", fullName: "sums roots", status: "pending" };

test("reads files, tests and statuses of vitest's json", () => {
  const text = JSON.stringify({
    testResults: [{ name: "a.test.ts", status: "passed", message: "", assertionResults: [passed, pending] }],
  });
  expect(parseTestReport("unit", text)).toEqual({
    level: "unit",
    files: [
      {
        path: "a.test.ts",
        brokenBy: undefined,
        tests: [
          { title: "adds", fullName: "sums adds", status: "passed", messages: [] },
          { title: "roots", fullName: "sums roots", status: "skipped", messages: [] },
        ],
      },
    ],
  });
});

test("keeps the reason of a file that failed outside its tests", () => {
  const file = {
    name: "a.test.ts",
    status: "failed",
    message: "Cannot find module",
    assertionResults: [passed],
  };
  const report = parseTestReport("unit", JSON.stringify({ testResults: [file] }));
  expect(report.files[0]?.brokenBy).toBe("Cannot find module");
});

test("refuses a file that is no report", () => {
  expect(() => parseTestReport("unit", "[]")).toThrow("testResults is not a list");
});
