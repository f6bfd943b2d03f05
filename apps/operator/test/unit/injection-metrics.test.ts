import type { Bundle } from "@quartermaster/api";
import { createMetrics } from "@quartermaster/runtime";
import { VirtualSystem } from "@quartermaster/runtime/testing";
import { syncMetrics } from "@quartermaster/subscription";
import { expect, test } from "vitest";

import { pageWith, type Sample, samplesIn } from "../support/metrics-page.ts";

const prefix = "quartermaster_subscription_injection";

function aBundle(labels: object, invalid?: "True" | "False"): Bundle {
  const conditions = invalid === undefined ? [] : [{ type: "Invalid", status: invalid }];
  return { metadata: { name: "secret-name", labels }, status: { conditions } } as unknown as Bundle;
}

function valueOf(samples: readonly Sample[], name: string, labels: object = {}): number | undefined {
  return samples.find(
    (each) => each.name === `${prefix}_${name}` && JSON.stringify(each.labels) === JSON.stringify(labels),
  )?.value;
}

test("bundles are counted by scope, state and label, and no name becomes a label", async () => {
  const label = { "subscription.openshift.io/always-inject": "true" };
  const page = await pageWith(
    [],
    [aBundle({}), aBundle(label, "True"), aBundle(label, "True"), aBundle({}, "False")],
  );
  const samples = samplesIn(page);
  const of = (invalid: string, auto: string) =>
    valueOf(samples, "bundles", { scope: "Bundle", invalid, auto });
  expect([of("false", "false"), of("true", "true"), of("true", "false")]).toEqual([2, 2, 0]);
  expect(valueOf(samples, "bundles", { scope: "ClusterBundle", invalid: "false", auto: "false" })).toBe(0);
  expect(page).not.toContain("secret-name");
});

test("the webhook shows the age of its watches, the end of its certificate, its index and its reviews", async () => {
  const samples = samplesIn(await pageWith());
  expect({
    age: valueOf(samples, "watch_age_seconds"),
    expiry: valueOf(samples, "cert_expiry_seconds"),
    watched: valueOf(samples, "key_index_entries", { by: "watch" }),
    cached: valueOf(samples, "sar_total", { result: "allowed", cached: "true" }),
    requested: valueOf(samples, "sar_total", { result: "allowed", cached: "false" }),
  }).toEqual({ age: 2, expiry: 4, watched: 2, cached: 1, requested: 0 });
});

test("a configuration is in sync, out of sync, or not there at all", async () => {
  const metrics = createMetrics({ system: new VirtualSystem() });
  const kept = syncMetrics(metrics.series);
  const shown = async (): Promise<number | undefined> =>
    valueOf(samplesIn(await metrics.render()), "cabundle_in_sync", { configuration: "a" });
  expect(await shown()).toBeUndefined();
  kept("a", "outOfSync");
  expect(await shown()).toBe(0);
  kept("a", "inSync");
  expect(await shown()).toBe(1);
  kept("a", "absent");
  expect(await shown()).toBeUndefined();
});
