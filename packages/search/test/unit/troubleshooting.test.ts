import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { searchReasons } from "../../src/reasons.ts";

const guide = join(import.meta.dirname, "../../../../docs/guides/troubleshooting.md");

test("the troubleshooting page has one row for each reason of a search cluster", () => {
  const sections = readFileSync(guide, "utf8").split(/^## /m);
  const section = sections.find((each) => each.startsWith("A search cluster is not ready\n")) ?? "";
  const rows = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, reason = ""]) => reason);
  expect(rows).toEqual(expect.arrayContaining(Object.values(searchReasons)));
  expect(new Set(rows).size).toBe(rows.length);
});
