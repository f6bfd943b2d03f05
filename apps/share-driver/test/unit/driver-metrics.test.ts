import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createMetrics, realSystem } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";

import { driverMetrics } from "../../src/driver-metrics.ts";
import { refusalReasons } from "../../src/refusal.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/reference/share-driver.md"), "utf8");

async function render(use: (metrics: ReturnType<typeof driverMetrics>) => void): Promise<string> {
  const metrics = createMetrics({ system: realSystem() });
  use(driverMetrics(metrics.series, () => ({ size: 3, followedObjects: 2 })));
  return await metrics.render();
}

describe("the driver's metrics", () => {
  test("are those of the reference page, with its words", async () => {
    const text = await render(() => undefined);
    const served = [...text.matchAll(/^# HELP (quartermaster_share_driver_\w+) (.*)$/gm)];
    const rows = [...page.matchAll(/^\| `(quartermaster_share_driver_\w+)` \| \w+ \|[^|]*\| (.*) \|$/gm)];
    const pairs = (found: readonly RegExpExecArray[]): readonly string[] =>
      found.map(([, name = "", help = ""]) => `${name}: ${help}`).toSorted();
    expect(pairs(served)).toEqual(pairs(rows));
    expect(served).toHaveLength(6);
  });

  test("count what happened, by result", async () => {
    const text = await render((metrics) => {
      metrics.published("Published", 0.02);
      metrics.published("Forbidden", 0.01);
      metrics.refreshed("Refreshed");
      metrics.unpublished();
    });
    expect(text).toContain('quartermaster_share_driver_publishes_total{result="Published"} 1');
    expect(text).toContain('quartermaster_share_driver_publishes_total{result="Forbidden"} 1');
    expect(text).toContain('quartermaster_share_driver_publishes_total{result="KeyConflict"} 0');
    expect(text).toContain('quartermaster_share_driver_refreshes_total{result="Refreshed"} 1');
    expect(text).toContain("quartermaster_share_driver_unpublishes_total 1");
    expect(text).toContain("quartermaster_share_driver_publish_seconds_count 2");
    expect(text).toContain("quartermaster_share_driver_volumes 3");
    expect(text).toContain("quartermaster_share_driver_followed_objects 2");
  });

  test.each(refusalReasons.map((reason) => ({ reason })))("the page explains $reason", ({ reason }) => {
    expect(page).toContain(`| \`${reason}\` |`);
  });
});
