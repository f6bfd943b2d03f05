import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { expect, test } from "vitest";

import { reportFailures, steps } from "../check/steps.ts";

test("every step of the check has an npm script", () => {
  const text = readFileSync(resolve(import.meta.dirname, "../../package.json"), "utf8");
  const { scripts } = JSON.parse(text) as { scripts: Record<string, string> };
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(steps.map(({ script }) => script)));
});

const cases = [
  { name: "nothing failed", given: [], want: ["check passed"] },
  {
    name: "two steps failed",
    given: [
      { name: "format", script: "check:format", remedy: "run `a`" },
      { name: "types", script: "check:types", remedy: "run `b`" },
    ],
    want: ["format failed: run `a`", "types failed: run `b`"],
  },
];

test.each(cases)("says what to do when $name", ({ given, want }) => {
  expect(reportFailures(given)).toEqual(want);
});
