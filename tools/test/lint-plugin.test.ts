import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";

import { expect, test } from "vitest";

const repository = resolve(import.meta.dirname, "../..");
const source = "packages/install-plan/src/a.ts";
const publicSource = "packages/subscription/src/a.ts";
const systemAccess = "packages/install-plan/src/system/a.ts";
const unitTest = "packages/install-plan/test/unit/a.test.ts";

const cases = [
  {
    name: "a static import",
    file: source,
    text: `import { a } from "@quartermaster/search";\na();\n`,
    want: ["qm(dependency-direction)"],
  },
  {
    name: "a type import",
    file: source,
    text: `import type { A } from "@quartermaster/search";\nlet a: A | undefined;\n`,
    want: ["qm(dependency-direction)"],
  },
  {
    name: "a side-effect import",
    file: source,
    text: `import "@quartermaster/search";\n`,
    want: ["qm(dependency-direction)"],
  },
  {
    name: "a re-export",
    file: source,
    text: `export { a } from "@quartermaster/search";\n`,
    want: ["qm(dependency-direction)"],
  },
  {
    name: "a dynamic import",
    file: source,
    text: `await import("@quartermaster/search");\n`,
    want: ["qm(dependency-direction)"],
  },
  {
    name: "a dynamic import by template",
    file: source,
    text: "await import(`@quartermaster/search`);\n",
    want: ["qm(dependency-direction)"],
  },
  {
    name: "a computed dynamic import",
    file: source,
    text: `const x = "@quartermaster/search";\nawait import(x);\n`,
    want: ["qm(dependency-direction)"],
  },
  {
    name: "an inline type import",
    file: source,
    text: `let a: import("@quartermaster/search").A | undefined;\n`,
    want: ["qm(dependency-direction)"],
  },
  {
    name: "a relative import into another package",
    file: source,
    text: `import { a } from "../../../search/src/a.ts";\na();\n`,
    want: ["qm(dependency-direction)"],
  },
  {
    name: "testkit outside tests",
    file: source,
    text: `import { a } from "@quartermaster/testkit";\na();\n`,
    want: ["qm(dependency-direction)"],
  },
  {
    name: "a package missing from the table",
    file: "packages/cellar/src/a.ts",
    text: `import { a } from "node:fs";\na();\n`,
    want: ["qm(dependency-direction)"],
  },
  {
    name: "testkit in a test",
    file: unitTest,
    text: `import { a } from "@quartermaster/testkit";\na();\n`,
    want: [],
  },
  {
    name: "runtime in a domain",
    file: source,
    text: `import { a } from "@quartermaster/runtime";\na();\n`,
    want: [],
  },
  { name: "Date.now", file: source, text: `Date.now();\n`, want: ["qm(system-access)"] },
  { name: "new Date()", file: source, text: `String(new Date());\n`, want: ["qm(system-access)"] },
  { name: "new Date(ms)", file: source, text: `String(new Date(0));\n`, want: [] },
  { name: "Math.random", file: source, text: `Math.random();\n`, want: ["qm(system-access)"] },
  {
    name: "setTimeout",
    file: source,
    text: `const later = setTimeout;\nlater(String);\n`,
    want: ["qm(system-access)"],
  },
  {
    name: "a parameter called setTimeout",
    file: source,
    text: `((setTimeout: () => void) => setTimeout())(String);\n`,
    want: [],
  },
  {
    name: "globalThis.setInterval",
    file: source,
    text: `globalThis.setInterval(String);\n`,
    want: ["qm(system-access)"],
  },
  {
    name: "node:timers/promises",
    file: source,
    text: `import { setTimeout as sleep } from "node:timers/promises";\nawait sleep(1);\n`,
    want: ["qm(system-access)"],
  },
  {
    name: "randomUUID",
    file: source,
    text: `import { randomUUID } from "node:crypto";\nrandomUUID();\n`,
    want: ["qm(system-access)"],
  },
  { name: "crypto.randomUUID", file: source, text: `crypto.randomUUID();\n`, want: ["qm(system-access)"] },
  { name: "process.env", file: source, text: `String(process.env);\n`, want: ["qm(system-access)"] },
  {
    name: "process.env by brackets",
    file: source,
    text: `String(process["env"]);\n`,
    want: ["qm(system-access)"],
  },
  {
    name: "env taken out of process",
    file: source,
    text: `const { env } = process;\nString(env);\n`,
    want: ["qm(system-access)"],
  },
  {
    name: "env of node:process",
    file: source,
    text: `import { env } from "node:process";\nString(env);\n`,
    want: ["qm(system-access)"],
  },
  { name: "Date.now in the system directory", file: systemAccess, text: `Date.now();\n`, want: [] },
  { name: "Date.now in a test", file: unitTest, text: `Date.now();\n`, want: [] },
  {
    name: "a catch-all file",
    file: "packages/install-plan/src/utils.ts",
    text: `String(1);\n`,
    want: ["qm(file-name)"],
  },
  {
    name: "a camel-case file",
    file: "packages/install-plan/src/quorumLost.ts",
    text: `String(1);\n`,
    want: ["qm(file-name)"],
  },
  {
    name: "a catch with only a comment",
    file: source,
    text: `try {\n  String(1);\n} catch {\n  // never mind\n}\n`,
    want: ["qm(no-empty-catch)"],
  },
  {
    name: "a promise's empty catch",
    file: source,
    text: `await Promise.resolve().catch(() => undefined);\n`,
    want: ["qm(no-empty-catch)"],
  },
  {
    name: "an enum",
    file: source,
    text: `enum A {\n  B,\n}\nString(A.B);\n`,
    want: ["qm(plain-modules)"],
  },
  {
    name: "types added to a foreign module",
    file: source,
    text: `declare module "node:fs" {\n  interface Added {\n    readonly here: true;\n  }\n}\nexport {};\n`,
    want: [],
  },
  { name: "export *", file: source, text: `export * from "./b.ts";\n`, want: ["qm(plain-modules)"] },
  {
    name: "a public name without a doc comment",
    file: publicSource,
    text: `// one\nexport const a = 1;\n`,
    want: ["qm(documented-exports)"],
  },
  {
    name: "a documented public name",
    file: publicSource,
    text: `/** One. */\nexport const a = 1;\n`,
    want: [],
  },
  { name: "an export inside the package", file: source, text: `export const a = 1;\n`, want: [] },
  {
    name: "a word that Kubernetes has another word for, in a comment, a text and a name",
    file: source,
    text: "// Nobody reads the `folder`.\nconst podFolder = `in a folder`;\nexport const a = podFolder;\n",
    want: ["qm(plain-words)", "qm(plain-words)", "qm(plain-words)"],
  },
  {
    name: "a file without an export of its name",
    file: source,
    text: `/** One. */\nexport const b = 1;\n`,
    want: ["qm(own-name)"],
  },
  {
    name: "seconds that are added to milliseconds",
    file: source,
    text: "const later = (startMs: number, timeoutSeconds: number): number => startMs + timeoutSeconds;\nlater(1, 1);\n",
    want: ["qm(unit-names)"],
  },
  {
    name: "seconds that are compared with milliseconds",
    file: source,
    text: "const isLate = (elapsedMs: number, timeoutSeconds: number): boolean => elapsedMs > timeoutSeconds;\nisLate(1, 1);\n",
    want: ["qm(unit-names)"],
  },
  {
    name: "seconds under a name of milliseconds",
    file: source,
    text: "const renamed = (timeoutSeconds: number): object => ({ timeoutMs: timeoutSeconds });\nrenamed(1);\n",
    want: ["qm(unit-names)"],
  },
  {
    name: "seconds that are converted",
    file: source,
    text: "const renamed = (timeoutSeconds: number): object => ({ timeoutMs: timeoutSeconds * 1_000 });\nrenamed(1);\n",
    want: [],
  },
  {
    name: "a length of time in no unit",
    file: source,
    text: "const retryDelay = 5;\nString(retryDelay);\n",
    want: ["qm(unit-names)"],
  },
  {
    name: "a field that is a length of time in no unit",
    file: source,
    text: "interface A {\n  readonly gracePeriod: string;\n  readonly timeout: number;\n}\nlet a: A | undefined;\n",
    want: ["qm(unit-names)"],
  },
];

/** All fixtures are linted in one run: starting oxlint takes half a second. */
const fixtures = cases.map(({ file, text }, index) => ({ file: numbered(file, index), text }));
const entry = "packages/subscription/src/index.ts";
const findings = lintFixtures([
  ...fixtures,
  { file: "packages/subscription/package.json", text: `{ "exports": { ".": "./src/index.ts" } }` },
  {
    file: entry,
    text: fixtures
      .filter(({ file }) => file.startsWith(dirname(entry)))
      .map(({ file }) => `export { a } from "./${relative(dirname(entry), file)}";\n`)
      .join(""),
  },
]);

test.each(cases.map((given, index) => ({ ...given, index })))(
  "oxlint with the rules of this repository judges $name",
  ({ file, want, index }) => {
    expect(
      findings.filter((found) => found.filename === numbered(file, index)).map(({ code }) => code),
    ).toEqual(want);
  },
);

interface Finding {
  readonly filename: string;
  readonly code: string;
}

/** Gives each fixture called `a` a directory of its own. */
function numbered(file: string, index: number): string {
  return file.replace(/\/a\./, `/n${index}/a.`);
}

/** What our own rules report when the repository's lint configuration runs over the fixtures as real files. */
function lintFixtures(
  files: readonly { readonly file: string; readonly text: string }[],
): readonly Finding[] {
  using directory = mkdtempDisposableSync(join(tmpdir(), "qm-lint-"));
  for (const { file, text } of files) {
    const path = join(directory.path, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const config = JSON.stringify({ extends: [join(repository, ".oxlintrc.json")] });
  writeFileSync(join(directory.path, ".oxlintrc.json"), config);
  const oxlint = join(repository, "node_modules/oxlint/bin/oxlint");
  const { stdout, stderr } = spawnSync(process.execPath, [oxlint, "--format=json", "."], {
    cwd: directory.path,
    encoding: "utf8",
  });
  if (stdout === "") throw new Error(`oxlint gave no report: ${stderr}`);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: Finding[] };
  return diagnostics.filter(({ code }) => code.startsWith("qm("));
}
