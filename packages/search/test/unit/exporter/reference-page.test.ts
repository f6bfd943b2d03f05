import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { exporterSeries } from "../../../src/exporter/index.ts";

test("the reference page lists every series of the exporter, and no other", () => {
  const page = readFileSync(
    join(import.meta.dirname, "../../../../../docs/reference/search-exporter.md"),
    "utf8",
  );
  const listed = [...page.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(
    ([, name = "", help = ""]) => `${name}: ${help}`,
  );
  expect(listed.toSorted()).toEqual(exporterSeries.map(({ name, help }) => `${name}: ${help}`).toSorted());
});
