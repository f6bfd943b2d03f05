import { expect, test } from "vitest";
import { z } from "zod";

import { flagRow, helpText, markdownTable, readFlags } from "../../src/flag-table.ts";
import { trueOrFalse, wholeNumber } from "../../src/flag-value.ts";

const table = {
  cache: {
    sizeMiB: flagRow("cache-size", "size in MiB", wholeNumber.default(64)),
    path: flagRow("cache-path", "its file", z.string().exactOptional()),
    isShared: flagRow("cache-shared", "share it", trueOrFalse),
  },
};

test.each([
  { name: "its default", args: [], env: {}, want: { sizeMiB: 64, isShared: false } },
  { name: "its flag", args: ["--cache-size=8"], env: {}, want: { sizeMiB: 8, isShared: false } },
  {
    name: "its variable",
    args: [],
    env: { QM_CACHE_SIZE: "9", QM_CACHE_PATH: "/c" },
    want: { sizeMiB: 9, path: "/c", isShared: false },
  },
  {
    name: "a flag that overrides its variable, and one that stands alone",
    args: ["--cache-path=/d", "--cache-shared"],
    env: { QM_CACHE_PATH: "/c" },
    want: { sizeMiB: 64, path: "/d", isShared: true },
  },
  {
    name: "an empty flag, which means none",
    args: ["--cache-path="],
    env: { QM_CACHE_PATH: "/c" },
    want: { sizeMiB: 64, isShared: false },
  },
])("a row gives its setting $name", ({ args, env, want }) => {
  expect(readFlags(table, { args, env }).values).toStrictEqual({ cache: want });
});

test("a row gives a line of --help and of the reference page, with the default of its schema", () => {
  expect(helpText("program", table)).toContain("QM_CACHE_SIZE               size in MiB (default: 64)\n");
  expect(markdownTable(table)).toContain("| `--cache-path` | `QM_CACHE_PATH` | its file |\n");
});

test("an invalid value is named by its flag", () => {
  expect(() => readFlags(table, { args: ["--cache-size=many"], env: {} })).toThrow(
    "--cache-size: must be a whole number",
  );
});
