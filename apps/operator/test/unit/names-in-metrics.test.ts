import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createMetrics } from "@quartermaster/runtime";
import { VirtualSystem } from "@quartermaster/runtime/testing";
import { searchMetrics } from "@quartermaster/search";
import { describe, expect, test } from "vitest";

import { pageWith, samplesIn } from "../support/metrics-page.ts";

const reference = join(import.meta.dirname, "../../../../docs/reference/metrics.md");

describe("[security/112] names of objects in metrics", () => {
  test("are those that the reference names, and no others", async () => {
    const named = samplesIn(await pageWith()).flatMap(({ labels }) =>
      Object.entries(labels).flatMap(([label, value]) => (/^[^/]+\/[^/]+/.test(value) ? [label] : [])),
    );
    const introduction = readFileSync(reference, "utf8").split("\n## ")[0] ?? "";
    const documented = [...introduction.matchAll(/`(license|cluster|pool)`/g)].map(([, label = ""]) => label);
    expect([...new Set(named)].toSorted()).toEqual(["cluster", "license", "pool"]);
    expect(documented.toSorted()).toEqual(["cluster", "license", "pool"]);
  });

  test("are at most 1,000 per series, however many clusters a tenant makes", async () => {
    const metrics = createMetrics({ system: new VirtualSystem(), controllers: [] });
    const observer = searchMetrics(metrics.series);
    const names = Array.from({ length: 3_000 }, (_, at) => `team/logs-${String(at)}`);
    for (const name of names) observer.clusterReported({ uid: name, name }, true);
    observer.targetsReadable(() => names.map((name) => ({ pool: `${name}/data`, target: 1 })));
    const samples = samplesIn(await metrics.render());
    for (const series of [
      "quartermaster_search_cluster_stalled",
      "quartermaster_search_autoscaling_target",
    ]) {
      const count = samples.filter(({ name }) => name === series).length;
      expect(count).toBeGreaterThan(900);
      expect(count).toBeLessThanOrEqual(1_001);
    }
  });
});
