import { globSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const files = globSync(["*.ts", "{packages,apps,tools,bench,deploy,examples}/**/*.ts"], {
  cwd: root,
  exclude: (path) => /(?:^|\/)(?:node_modules|dist)$/.test(path),
});
const pages = globSync(["*.md", "{packages,apps}/*/README.md"], { cwd: root });

/** Names in backquotes: `reconcile/outcome.ts`. Names without a directory count where a file has them. */
const named = pages.flatMap((page) =>
  [...readFileSync(resolve(root, page), "utf8").matchAll(/`(?<name>[\w./-]+\.ts)`/g)].map(
    ({ groups = {} }) => ({ page, name: groups["name"] ?? "" }),
  ),
);

test("pages name files", () => {
  expect(named.filter(({ page }) => page === "ARCHITECTURE.md").length).toBeGreaterThan(100);
});

test("every file that a page names is there", () => {
  const missing = named.filter(({ page, name }) => {
    const own = `${dirname(page)}/${name}`;
    return !files.some((file) => file === name || file === own || file.endsWith(`/${name}`));
  });
  expect(missing).toEqual([]);
});
