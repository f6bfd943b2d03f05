import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { bundleReasons, conditionTypes } from "../../src/bundle-reasons.ts";
import { reasons } from "../../src/reasons.ts";

const guide = join(import.meta.dirname, "../../../../docs/guides/troubleshooting.md");

/** A section of the page, by its title. */
function sectionOf(title: string): string {
  const sections = readFileSync(guide, "utf8").split(/^## /m);
  return sections.find((section) => section.startsWith(`${title}\n`)) ?? "";
}

test("the troubleshooting page has one row for each reason why a pod is refused, and no other rows", () => {
  const rows = [...sectionOf("A pod is refused").matchAll(/^\| `(\w+)` \|/gm)].map(
    ([, reason = ""]) => reason,
  );
  expect(rows.toSorted()).toEqual(Object.values(reasons).toSorted());
});

test("the troubleshooting page names every condition and reason of bundles", () => {
  const section = sectionOf("Bundles and ClusterBundles");
  for (const text of [...Object.values(bundleReasons), ...Object.values(conditionTypes)])
    expect(section).toContain(`\`${text}\``);
});
