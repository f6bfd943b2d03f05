import { describe, expect, test } from "vitest";

import { findImportBreach } from "../lint/import-breach.ts";
import { packages } from "../lint/packages.ts";

const plan = "packages/install-plan/src/rules.ts";
const planTest = "packages/install-plan/test/unit/rules.test.ts";

const kept = [
  { name: "a domain imports api", given: { file: plan, specifier: "@quartermaster/api" } },
  { name: "a domain imports runtime", given: { file: plan, specifier: "@quartermaster/runtime" } },
  {
    name: "api imports runtime",
    given: { file: "packages/api/src/plan.ts", specifier: "@quartermaster/runtime" },
  },
  {
    name: "an app imports a domain",
    given: { file: "apps/operator/src/main.ts", specifier: "@quartermaster/search" },
  },
  {
    name: "the program behind make up imports local-cluster",
    given: { file: "tools/up/main.ts", specifier: "@quartermaster/local-cluster" },
  },
  {
    name: "local-cluster imports runtime",
    given: { file: "packages/local-cluster/src/a.ts", specifier: "@quartermaster/runtime/certificates" },
  },
  {
    name: "testkit imports local-cluster",
    given: { file: "packages/testkit/src/a.ts", specifier: "@quartermaster/local-cluster" },
  },
  { name: "a test imports testkit", given: { file: planTest, specifier: "@quartermaster/testkit" } },
  {
    name: "a test of local-cluster imports testkit",
    given: { file: "packages/local-cluster/test/e2e/a.test.ts", specifier: "@quartermaster/testkit" },
  },
  {
    name: "a benchmark imports testkit",
    given: { file: "bench/run.ts", specifier: "@quartermaster/testkit" },
  },
  {
    name: "testkit imports itself by name",
    given: { file: "packages/testkit/src/a.ts", specifier: "@quartermaster/testkit" },
  },
  { name: "a test imports its own source", given: { file: planTest, specifier: "../../src/rules.ts" } },
  { name: "a relative path inside the package", given: { file: plan, specifier: "./desired/service.ts" } },
  { name: "a foreign package", given: { file: plan, specifier: "yaml" } },
  { name: "a built-in module", given: { file: plan, specifier: "node:fs" } },
  {
    name: "a package whose name begins like another",
    given: { file: plan, specifier: "@quartermaster-addons/x" },
  },
  { name: "a root file imports a tool", given: { file: "vitest.config.ts", specifier: "vitest/config" } },
  {
    name: "a root file imports a tool of ours",
    given: { file: "vitest.config.ts", specifier: "./tools/test-run/longest-first.ts" },
  },
];

const broken = [
  {
    name: "a domain imports a domain",
    given: { file: plan, specifier: "@quartermaster/licensing" },
    want: /may not import licensing/,
  },
  {
    name: "runtime imports api",
    given: { file: "packages/runtime/src/a.ts", specifier: "@quartermaster/api" },
    want: /may not import api/,
  },
  {
    name: "api imports a domain",
    given: { file: "packages/api/src/a.ts", specifier: "@quartermaster/search" },
    want: /may not import search/,
  },
  {
    name: "local-cluster imports a domain",
    given: { file: "packages/local-cluster/src/a.ts", specifier: "@quartermaster/search" },
    want: /may not import search/,
  },
  {
    name: "runtime imports local-cluster",
    given: { file: "packages/runtime/src/a.ts", specifier: "@quartermaster/local-cluster" },
    want: /may not import local-cluster/,
  },
  {
    name: "the cli imports local-cluster",
    given: { file: "apps/cli/src/main.ts", specifier: "@quartermaster/local-cluster" },
    want: /may not import local-cluster/,
  },
  {
    name: "a tool imports local-cluster",
    given: { file: "tools/cases/main.ts", specifier: "@quartermaster/local-cluster" },
    want: /may not import local-cluster/,
  },
  {
    name: "a domain imports local-cluster",
    given: { file: plan, specifier: "@quartermaster/local-cluster" },
    want: /may not import local-cluster/,
  },
  {
    name: "the operator imports local-cluster",
    given: { file: "apps/operator/src/main.ts", specifier: "@quartermaster/local-cluster" },
    want: /may not import/,
  },
  {
    name: "a test of a domain imports another domain",
    given: { file: planTest, specifier: "@quartermaster/search" },
    want: /may not import search/,
  },
  {
    name: "source imports testkit",
    given: { file: plan, specifier: "@quartermaster/testkit" },
    want: /only tests and benchmarks/,
  },
  {
    name: "a source directory called test imports testkit",
    given: { file: "packages/search/src/test/a.ts", specifier: "@quartermaster/testkit" },
    want: /only tests/,
  },
  {
    name: "a tool imports testkit",
    given: { file: "tools/cases/main.ts", specifier: "@quartermaster/testkit" },
    want: /only tests/,
  },
  {
    name: "a package imports an app",
    given: { file: plan, specifier: "@quartermaster/cli" },
    want: /may not import cli/,
  },
  {
    name: "a deep path",
    given: { file: plan, specifier: "@quartermaster/api/src/plan.ts" },
    want: /reaches into a package/,
  },
  {
    name: "a relative path into another package",
    given: { file: plan, specifier: "../../api/src/plan.ts" },
    want: /leaves packages\/install-plan/,
  },
  {
    name: "a relative path into a package with a longer name",
    given: { file: "packages/search/src/a.ts", specifier: "../../search-extra/src/a.ts" },
    want: /leaves/,
  },
  {
    name: "a relative path out of the repository",
    given: { file: plan, specifier: "../../../../elsewhere.ts" },
    want: /leaves/,
  },
  {
    name: "source imports its own test",
    given: { file: plan, specifier: "../test/unit/rules.test.ts" },
    want: /is a test file/,
  },
  { name: "an absolute path", given: { file: plan, specifier: "/srv/a.ts" }, want: /absolute path/ },
  { name: "a file URL", given: { file: plan, specifier: "file:///srv/a.ts" }, want: /absolute path/ },
  {
    name: "an unknown package",
    given: { file: plan, specifier: "@quartermaster/cellar" },
    want: /no known package/,
  },
  {
    name: "a file in an unknown package",
    given: { file: "packages/cellar/src/a.ts", specifier: "node:fs" },
    want: /no known package/,
  },
  {
    name: "a root file imports a package",
    given: { file: "vitest.config.ts", specifier: "@quartermaster/testkit" },
    want: /imports nothing of ours but tools/,
  },
];

describe("the dependency rule allows", () => {
  test.each(kept)("$name", ({ given }) => {
    expect(findImportBreach(given)).toBeUndefined();
  });
});

describe("the dependency rule refuses", () => {
  test.each(broken)("$name", ({ given, want }) => {
    expect(findImportBreach(given)).toMatch(want);
  });
});

test("the table of packages has no circle", () => {
  const imports = new Map(packages.map((rule) => [rule.directory.split("/").at(-1) ?? "", rule.mayImport]));
  const reach = (name: string, seen: readonly string[]): void => {
    expect(seen, `${[...seen, name].join(" → ")} is a circle`).not.toContain(name);
    for (const next of imports.get(name) ?? []) reach(next, [...seen, name]);
  };
  for (const name of imports.keys()) reach(name, []);
});
