import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { generatedFiles } from "@quartermaster/api/generate";
import { phasePage } from "@quartermaster/install-plan";
import { monitoringFiles } from "@quartermaster/search";

import { allDomains } from "../all-domains.ts";
import { permissionFiles } from "./permission-files.ts";

/** `main.ts` writes the generated files; `main.ts --check` only says which are stale, and fails when one is. */
const root = join(import.meta.dirname, "../../../..");
const isCheck = process.argv.includes("--check");
const domains = Object.values(allDomains({ requireAuthor: true }));
const phases = { path: "docs/reference/plan-phases.md", content: phasePage() };
const files = [...generatedFiles(), ...permissionFiles(domains), ...monitoringFiles(), phases];
const stale = files.filter(({ path, content }) => readIfThere(join(root, path)) !== content);

for (const { path, content } of isCheck ? [] : stale) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}
for (const { path } of stale) process.stdout.write(`${isCheck ? "stale" : "wrote"} ${path}\n`);
if (isCheck && stale.length > 0) process.exitCode = 1;

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Not there yet: as stale as can be.
    return undefined;
  }
}
