import { expect, test } from "vitest";

import { pageWith, samplesIn } from "../support/metrics-page.ts";

test("licenses are shown with their end and use, clusters with their license, and attempts by result", async () => {
  const samples = samplesIn(await pageWith()).filter(({ name }) => name.startsWith("elastic_"));
  const shown = samples.map(({ name, labels, value }) => [name.slice("elastic_".length), labels, value]);
  expect(shown).toEqual(
    expect.arrayContaining([
      ["license_expiry_timestamp_seconds", { kind: "EnterpriseLicense", license: "licenses/pool" }, 5],
      ["license_capacity_used", { license: "licenses/pool" }, 11],
      ["license_capacity_limit", { license: "licenses/pool" }, 10],
      ["cluster_license_info", { cluster: "team/logs", type: "gold" }, 1],
      ["license_rejected_clusters", {}, 1],
      ["license_unmatched_clusters", {}, 1],
      ["license_apply_total", { result: "applied" }, 1],
      ["license_apply_total", { result: "rejected" }, 0],
      ["license_apply_total", { result: "failed" }, 0],
    ]),
  );
});
