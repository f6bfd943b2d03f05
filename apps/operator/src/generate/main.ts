import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { generatedFiles } from "@quartermaster/api/generate";
import { phasePage } from "@quartermaster/install-plan";
import { monitoringFiles } from "@quartermaster/search";

import { allDomains } from "../all-domains.ts";
import { settingsTable } from "../settings.ts";
import { chartFiles } from "./chart/chart-files.ts";
import { rbacTemplates } from "./chart/rbac-templates.ts";
import { permissionFiles } from "./permission-files.ts";

/** `main.ts` writes the generated files; `main.ts --check` only says which are stale, and fails when one is. */
const root = join(import.meta.dirname, "../../../..");
const isCheck = process.argv.includes("--check");
const byName = allDomains({ requireAuthor: true });
const domains = Object.values(byName);
const phases = { path: "docs/reference/plan-phases.md", content: phasePage() };
const operatorPage = "docs/reference/operator.md";
const flags = { path: operatorPage, content: withFlags(readIfThere(join(root, operatorPage)) ?? "") };
const files = [
  ...generatedFiles(),
  ...permissionFiles(domains),
  ...monitoringFiles(),
  ...chartFiles(root),
  ...rbacTemplates(byName),
  phases,
  flags,
];
const stale = files.filter(({ path, content }) => readIfThere(join(root, path)) !== content);

for (const { path, content } of isCheck ? [] : stale) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}
for (const { path } of stale) process.stdout.write(`${isCheck ? "stale" : "wrote"} ${path}\n`);
if (isCheck && stale.length > 0) process.exitCode = 1;

/** The page with the flags of today; the rest of it is written by hand. */
function withFlags(page: string): string {
  return page.replace(/^\| flag \| environment \|[^]*?(?=^$)/m, settingsTable());
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Not there yet: as stale as can be.
    return undefined;
  }
}
