import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { licensingReasons } from "../../src/reasons.ts";

test("the troubleshooting page has one row for each reason of licensing", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../../docs/guides/troubleshooting.md"), "utf8");
  const section = guide.split(/^## /m).find((each) => each.startsWith("Licenses\n")) ?? "";
  const rows = [...section.matchAll(/^\| `(\w+)` \| .* \| .* \|$/gm)].map(([, reason = ""]) => reason);
  expect(rows.toSorted()).toEqual(Object.values(licensingReasons).toSorted());
});
