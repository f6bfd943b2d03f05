import { expect, test } from "vitest";

import { parseCaseList, parseCaseNames } from "../cases/case-list.ts";
import { exitCodeOf, judgeCases } from "../cases/judge-cases.ts";
import { printJudgement } from "../cases/print-judgement.ts";
import { testFile, testReport, testResult } from "./report-builders.ts";

const lists = [
  { name: "search", ids: ["SC-01", "SC-02"], levels: new Map([["SC-02", "api"]] as const) },
  { name: "install-plan", ids: ["1", "2", "3"], levels: new Map() },
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
    "# A\n\n| id | case |\n|---|---|\n| LC-01 | [node] x \\| y |\n\ntext | 5 |\n\n| id | case |\n|---|---|\n| 12 | z |\n";
  expect(parseCaseList("a", markdown)).toEqual({
    name: "a",
    ids: ["LC-01", "12"],
    levels: new Map([["LC-01", "node"]]),
  });
});

test("refuses a level that does not exist", () => {
  expect(() => parseCaseList("a", "| 1 | [moon] x |")).toThrow(
    "a/1 has the level [moon]; write one of table, api, engine, node, browser, campaign",
  );
});

test.each([
  { level: "unit", path: "a/test/unit/x.test.ts", given: "engine", isBelow: true },
  { level: "unit", path: "a/test/unit/x.test.ts", given: "table", isBelow: false },
  { level: "integration", path: "a/test/integration/x.test.ts", given: "api", isBelow: false },
  { level: "integration", path: "a/test/integration/x.test.ts", given: "engine", isBelow: true },
  { level: "integration", path: "a/opensearch-contract.test.ts", given: "engine", isBelow: false },
  { level: "integration", path: "a/opensearch-contract.test.ts", given: "node", isBelow: true },
  { level: "e2e", path: "a/test/e2e/x.test.ts", given: "node", isBelow: false },
  { level: "e2e", path: "a/test/e2e/x.test.ts", given: "campaign", isBelow: true },
] as const)("a passed test of $path is below [$given]: $isBelow", ({ level, path, given, isBelow }) => {
  const list = { name: "a", ids: ["1"], levels: new Map([["1", given]]) };
  const reports = [{ level, files: [{ ...testFile([testResult("[a/1] x")]), path }] }];
  expect(judgeCases([list], reports).standings[0]?.belowLevel).toEqual(isBelow ? [`1 [${given}]`] : []);
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
    want: [
      "search       2/2",
      "  met below the level that the specification names: SC-02 [api]",
      "  met, with a skipped test beside it: SC-02",
      "install-plan 3/3",
    ],
    exitCode: 0,
  },
  {
    name: "a skipped case as missing, which is no failure",
    given: [testReport([testResult("[search/SC-01,SC-02] a"), testResult("[install-plan/2] b", "skipped")])],
    want: [
      "search       2/2",
      "  met below the level that the specification names: SC-02 [api]",
      "install-plan 0/3",
      "  missing: 1, 2 (skipped), 3",
    ],
    exitCode: 3,
  },
  {
    name: "unknown ids as an error",
    given: [testReport([testResult("[search/SC-01,SC-02,SC-99] a"), testResult("[install-plan/1,2,3] b")])],
    want: [
      "search       2/2",
      "  met below the level that the specification names: SC-02 [api]",
      "install-plan 3/3",
      "unknown: search/SC-99",
    ],
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
