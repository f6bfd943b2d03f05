import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { describe, expect, test } from "vitest";

import { campaignTable } from "../campaign/campaign-table.ts";
import { type Campaign, campaigns, campaignVariable } from "../campaign/campaigns.ts";

const root = resolve(import.meta.dirname, "../..");

describe("the list of campaigns", () => {
  test.each(campaigns)(
    "$name: its test is there once, and has a short form",
    ({ file, cases, level = "integration" }) => {
      const files = globSync(`{packages/*,apps/*,deploy}/test/${level}/**/${file}.test.ts`, { cwd: root });
      expect(files).toHaveLength(1);
      const text = readFileSync(join(root, files[0] ?? ""), "utf8");
      expect(text).toContain(cases);
      expect(text).toContain(campaignVariable);
    },
  );

  test("names each once", () => {
    expect(new Set(campaigns.map(({ name }) => name)).size).toBe(campaigns.length);
  });
});

test("the table shows time and result of each, then what failed", () => {
  const campaign: Campaign = { name: "a", what: "all of it", file: "a", cases: "A-1" };
  const lines = campaignTable([
    { campaign, passed: 2, failures: [], tookMs: 61_400 },
    { campaign: { ...campaign, name: "b" }, passed: 0, failures: ["it broke"], tookMs: 1_000 },
  ]);
  expect(lines).toEqual([
    "a                      61 s   2 passed  all of it",
    "b                       1 s   1 FAILED  all of it",
    "b: it broke",
    "1 campaigns passed, 1 failed",
  ]);
});
