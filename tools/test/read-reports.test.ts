import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { readReports } from "../report/read-reports.ts";
import { originLines, readOrigins } from "../report/report-origins.ts";

test("finds no report where the directory is missing", () => {
  expect(readReports(join(tmpdir(), "no-such-folder"))).toEqual([]);
});

test("reads each level, and takes a cut-off report for a broken file", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "reports-"));
  writeFileSync(join(directory.path, "unit.json"), JSON.stringify({ testResults: [] }));
  writeFileSync(join(directory.path, "e2e.json"), `{"testRes`);
  const [endToEnd, unit] = readReports(directory.path);
  expect(endToEnd?.files[0]?.brokenBy).toContain("this is no test report");
  expect(unit).toEqual({ level: "unit", files: [] });
});

test("a test that passed in the second run has passed, and keeps what it said at first", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "reports-"));
  mkdirSync(join(directory.path, "second"));
  const report = (status: string): string =>
    JSON.stringify({
      testResults: [
        {
          name: "a.test.ts",
          status,
          assertionResults: [
            {
              title: "waits",
              fullName: "waits",
              status,
              failureMessages: status === "failed" ? ["late"] : [],
            },
          ],
        },
      ],
    });
  writeFileSync(join(directory.path, "e2e.json"), report("failed"));
  writeFileSync(join(directory.path, "second", "e2e.json"), report("passed"));
  expect(readReports(directory.path).flatMap(({ files }) => files.flatMap((file) => file.tests))).toEqual([
    { title: "waits", fullName: "waits", status: "passed", messages: [], failedBefore: ["late"] },
  ]);
});

test("says of each report which commit it is of, and how old it is", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "reports-"));
  const minuteMs = 60_000;
  writeFileSync(join(directory.path, "e2e.json"), `{"testRes`);
  writeFileSync(join(directory.path, "integration.json"), JSON.stringify({ startTime: 0, testResults: [] }));
  writeFileSync(
    join(directory.path, "unit.json"),
    JSON.stringify({ startTime: 170 * minuteMs, testResults: [] }),
  );
  writeFileSync(join(directory.path, "unit.commit"), "1a2b3c4-dirty\n");
  expect(originLines(readOrigins(directory.path), 180 * minuteMs)).toEqual([
    "integration: commit unknown, 3 h old",
    "unit: commit 1a2b3c4-dirty, 10 min old",
  ]);
  expect(readOrigins(join(directory.path, "missing"))).toEqual([]);
});
