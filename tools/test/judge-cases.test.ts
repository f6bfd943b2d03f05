import { expect, test } from "vitest";

import { parseCaseList } from "../cases/case-list.ts";
import { parseCaseNames } from "../cases/case-names.ts";
import { exitCodeOf, judgeCases } from "../cases/judge-cases.ts";
import { printJudgement } from "../cases/print-judgement.ts";
import { testFile, testReport, testResult } from "./report-builders.ts";

const lists = [
  { name: "search", ids: ["SC-01", "SC-02"] },
  { name: "install-plan", ids: ["1", "2", "3"] },
];

const names = [
  { name: "no bracket", given: "adds", want: [] },
  { name: "one id", given: "[search/SC-01] forms", want: ["search/SC-01"] },
  {
    name: "two brackets",
    given: "[search/SC-01] [install-plan/3] forms",
    want: ["search/SC-01", "install-plan/3"],
  },
  {
    name: "a list of ids",
    given: "[install-plan/1,2, 3] orders",
    want: ["install-plan/1", "install-plan/2", "install-plan/3"],
  },
  { name: "a bracket in the middle", given: "as [search/SC-01] says", want: [] },
  { name: "a bracket that is no case", given: "[nodes] start", want: [] },
];

test.each(names)("reads the cases of a test name with $name", ({ given, want }) => {
  expect(parseCaseNames(given).map(({ list, id }) => `${list}/${id}`)).toEqual(want);
});

test("reads ids from the tables of an acceptance file and nothing else", () => {
  const markdown =
    "# A\n\n| id | case |\n|---|---|\n| LC-01 | x \\| y |\n\ntext | 5 |\n\n| id | case |\n|---|---|\n| 12 | z |\n";
  expect(parseCaseList("a", markdown)).toEqual({ name: "a", ids: ["LC-01", "12"] });
});

const judgements = [
  {
    name: "met, failing and missing cases",
    given: [testReport([testResult("[install-plan/1] a"), testResult("[install-plan/2] b", "failed")])],
    want: ["search       0/2", "  missing: SC-01, SC-02", "install-plan 1/3", "  failing: 2", "  missing: 3"],
    exitCode: 1,
  },
  {
    name: "a case with a passed and a failed test as failing",
    given: [testReport([testResult("[search/SC-01] a"), testResult("[search/SC-01,SC-02] b", "failed")])],
    want: ["search       0/2", "  failing: SC-01, SC-02", "install-plan 0/3", "  missing: 1, 2, 3"],
    exitCode: 1,
  },
  {
    name: "a met case with a skipped test beside it, and all met",
    given: [
      testReport([
        testResult("[search/SC-01,SC-02] a"),
        testResult("[search/SC-02] on ARM", "skipped"),
        testResult("[install-plan/1,2,3] b"),
      ]),
    ],
    want: ["search       2/2", "  met, with a skipped test beside it: SC-02", "install-plan 3/3"],
    exitCode: 0,
  },
  {
    name: "a skipped case as missing, which is no failure",
    given: [testReport([testResult("[search/SC-01,SC-02] a"), testResult("[install-plan/2] b", "skipped")])],
    want: ["search       2/2", "install-plan 0/3", "  missing: 1, 2 (skipped), 3"],
    exitCode: 3,
  },
  {
    name: "unknown ids as an error",
    given: [testReport([testResult("[search/SC-01,SC-02,SC-99] a"), testResult("[install-plan/1,2,3] b")])],
    want: ["search       2/2", "install-plan 3/3", "unknown: search/SC-99"],
    exitCode: 1,
  },
  {
    name: "a test file that did not run as an error",
    given: [
      {
        level: "e2e",
        files: [testFile([testResult("[search/SC-01,SC-02] [install-plan/1,2,3] a")], "no root")],
      },
    ],
    want: ["search       2/2", "install-plan 3/3", "did not run: packages/a/test/unit/a.test.ts"],
    exitCode: 1,
  },
];

test.each(judgements)("shows $name", ({ given, want, exitCode }) => {
  const judgement = judgeCases(lists, given);
  expect(printJudgement(judgement)).toEqual(want);
  expect(exitCodeOf(judgement)).toBe(exitCode);
});

test("takes ids from the describe around a test as well", () => {
  const inside = { ...testResult("forms"), fullName: "[search/SC-02] bootstrap forms" };
  expect(judgeCases(lists, [testReport([inside])]).standings[0]?.met).toEqual(["SC-02"]);
});
