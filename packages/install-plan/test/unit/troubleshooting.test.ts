import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { reasons as runtimeReasons } from "@quartermaster/runtime";
import { expect, test } from "vitest";

import { reasons } from "../../src/reasons.ts";

const repository = join(import.meta.dirname, "../../../..");
const source = join(repository, "packages/install-plan/src");

/** Reasons that stand in the code as text: issues, unresolved content, events. Those of health have a page of their own. */
function reasonsInText(): readonly string[] {
  const files = globSync("**/*.ts", { cwd: source, exclude: ["health/**", "pack/**"] });
  const texts = files.map((file) => readFileSync(join(source, file), "utf8")).join("\n");
  const listed = /type IssueReason =([^;]+);/.exec(texts)?.[1] ?? "";
  return [
    ...[...texts.matchAll(/reason: "([A-Z]\w+)"/g)].map(([, reason = ""]) => reason),
    ...[...listed.matchAll(/\| "(\w+)"/g)].map(([, reason = ""]) => reason),
  ];
}

test("the troubleshooting page has one row for each reason, and no other rows", () => {
  const guide = readFileSync(join(repository, "docs/guides/troubleshooting.md"), "utf8");
  // What follows is about bundles and search clusters; their packages have tests of their own for it.
  const [page = ""] = guide.split(
    /\n## (?:A pod is refused|Bundles and ClusterBundles|A search cluster is not ready)\n/,
  );
  const rows = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, reason = ""]) => reason);
  const known = new Set([...Object.values(reasons), ...Object.values(runtimeReasons), ...reasonsInText()]);
  expect(rows.toSorted()).toEqual([...known].toSorted());
});
