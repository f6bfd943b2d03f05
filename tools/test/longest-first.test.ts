import { globSync } from "node:fs";
import { resolve } from "node:path";

import { expect, test } from "vitest";

import { longFiles } from "../test-run/longest-first.ts";

const root = resolve(import.meta.dirname, "../..");

test("every long file is there, once", () => {
  const level = "{integration,e2e}/**";
  const counts = longFiles.map((name) => [
    name,
    globSync(`{packages/*,apps/*,deploy}/test/${level}/${name}.test.ts`, { cwd: root }).length,
  ]);
  expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(longFiles.map((name) => [name, 1])));
});
