import { posix } from "node:path";

import { packages, testsMayImport, type PackageRule } from "./packages.ts";

const scope = "@quartermaster/";

/** An import as written: `file` relative to the repository with forward slashes, `specifier` from the source text. */
export interface Import {
  readonly file: string;
  readonly specifier: string;
}

/** One sentence on how the import breaks the dependency rule; undefined when it keeps it. */
export function findImportBreach({ file, specifier }: Import): string | undefined {
  if (isRootFile(file)) return findRootFileBreach({ file, specifier });
  const rule = ruleOf(file);
  if (rule === undefined) return `${file} is in no known package: add its package to tools/lint/packages.ts`;
  if (specifier.startsWith(scope)) return findPackageBreach(rule, { file, specifier });
  if (specifier.startsWith(".")) return findRelativeBreach(rule, { file, specifier });
  if (specifier.startsWith("/") || specifier.startsWith("file:")) {
    return `"${specifier}" is an absolute path: import a package by its name`;
  }
  return undefined;
}

/** Whether the file is a test or serves tests: anything below `<package>/test`. */
export function isTestFile(file: string): boolean {
  const rule = ruleOf(file);
  return rule !== undefined && file.startsWith(`${rule.directory}/test/`);
}

function isRootFile(file: string): boolean {
  return !file.includes("/");
}

function ruleOf(file: string): PackageRule | undefined {
  return packages.find((rule) => file.startsWith(`${rule.directory}/`));
}

function packageOf(rule: PackageRule): string {
  return posix.basename(rule.directory);
}

/** Files beside package.json configure tools; they belong to no package, and import none but our own tools. */
function findRootFileBreach({ specifier }: Import): string | undefined {
  const isOurs = specifier.startsWith(scope) || specifier.startsWith(".");
  return isOurs && !specifier.startsWith("./tools/")
    ? `a file at the root of the repository imports nothing of ours but tools, and this is "${specifier}"`
    : undefined;
}

function findPackageBreach(rule: PackageRule, { file, specifier }: Import): string | undefined {
  const [target = "", ...deeper] = specifier.slice(scope.length).split("/");
  const owner = packages.find((known) => packageOf(known) === target);
  if (owner === undefined) {
    return `"${specifier}" names no known package: add it to tools/lint/packages.ts`;
  }
  if (deeper.length > 0 && !(owner.entries ?? []).includes(deeper.join("/"))) {
    return `"${specifier}" reaches into a package: import "${scope}${target}" and export what you need there`;
  }
  const allowed = [packageOf(rule), ...rule.mayImport, ...(isTestFile(file) ? testsMayImport : [])];
  if (allowed.includes(target)) return undefined;
  if (target === "testkit") return `only tests and benchmarks import testkit, and ${file} is neither`;
  return `${rule.directory} may not import ${target}: the table in tools/lint/packages.ts says which way dependencies point`;
}

function findRelativeBreach(rule: PackageRule, { file, specifier }: Import): string | undefined {
  const target = posix.join(posix.dirname(file), specifier);
  if (!target.startsWith(`${rule.directory}/`)) {
    return `"${specifier}" leaves ${rule.directory}: import another package by its name`;
  }
  if (isTestFile(target) && !isTestFile(file)) return `"${specifier}" is a test file: only tests import it`;
  return undefined;
}
