import { globSync } from "node:fs";
import { resolve } from "node:path";

import { expect, test } from "vitest";

import { longE2eFiles, longFiles, longUnitFiles } from "../test-run/longest-first.ts";

const root = resolve(import.meta.dirname, "../..");

test.each([
  { levels: "unit", names: longUnitFiles },
  { levels: "integration", names: longFiles },
  { levels: "e2e", names: longE2eFiles },
])("every long file of $levels is there, once", ({ levels, names }) => {
  const counts = names.map((name) => [
    name,
    globSync(`{packages/*,apps/*,deploy}/test/${levels}/**/${name}.test.ts`, { cwd: root }).length,
  ]);
  expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(names.map((name) => [name, 1])));
});
