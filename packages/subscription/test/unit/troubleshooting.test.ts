import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { bundleReasons } from "../../src/bundle-reasons.ts";
import { reasons } from "../../src/reasons.ts";

test("the troubleshooting page has one row for each reason why a pod is refused, and no other rows", () => {
  const guide = join(import.meta.dirname, "../../../../docs/guides/troubleshooting.md");
  const [, section = ""] = readFileSync(guide, "utf8").split("\n## A pod is refused\n");
  const rows = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, reason = ""]) => reason);
  expect(rows.toSorted()).toEqual(Object.values(reasons).toSorted());
});

test("the troubleshooting page names each reason of a bundle's conditions", () => {
  const guide = join(import.meta.dirname, "../../../../docs/guides/troubleshooting.md");
  const [, after = ""] = readFileSync(guide, "utf8").split("\n## Bundles and ClusterBundles\n");
  const [section = ""] = after.split("\n## ");
  const missing = Object.values(bundleReasons).filter((reason) => !section.includes(`\`${reason}\``));
  expect(missing).toEqual([]);
});
