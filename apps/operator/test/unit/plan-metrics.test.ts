import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { InstallPlan } from "@quartermaster/api";
import { expect, test } from "vitest";
import { z } from "zod";

import { allPages, pageWith, type Sample, samplesIn } from "../support/metrics-page.ts";

const repository = join(import.meta.dirname, "../../../..");

function aPlan(phase?: string, counts: Readonly<Record<string, number>> = {}): InstallPlan {
  const none = { total: 0, ready: 0, suspended: 0, inProgress: 0, failed: 0, missing: 0, drifted: 0 };
  const rest = { conflict: 0, terminating: 0, unknown: 0 };
  const status = phase === undefined ? {} : { status: { phase, counts: { ...none, ...rest, ...counts } } };
  return { metadata: { name: "secret-name" }, ...status } as unknown as InstallPlan;
}

function valueOf(samples: readonly Sample[], name: string, label = ""): number | undefined {
  const found = samples.find(
    (sample) => sample.name === name && (label === "" || Object.values(sample.labels).includes(label)),
  );
  return found?.value;
}

test("plans are counted by phase, their objects by state, and those of superseded plans not twice", async () => {
  const page = await pageWith([
    aPlan(),
    aPlan("Installed", { total: 5, ready: 4, drifted: 1 }),
    aPlan("Installed", { total: 2, ready: 2 }),
    aPlan("Superseded", { total: 5, ready: 5 }),
  ]);
  const samples = samplesIn(page);
  const plans = "quartermaster_install_plans";
  const resources = "quartermaster_install_plan_resources";
  expect({
    fresh: valueOf(samples, plans, "New"),
    installed: valueOf(samples, plans, "Installed"),
    superseded: valueOf(samples, plans, "Superseded"),
    failed: valueOf(samples, plans, "Failed"),
    ready: valueOf(samples, resources, "ready"),
    drifted: valueOf(samples, resources, "drifted"),
    missing: valueOf(samples, resources, "missing"),
  }).toEqual({ fresh: 1, installed: 2, superseded: 1, failed: 0, ready: 6, drifted: 1, missing: 0 });
  expect(page).not.toContain("secret-name");
});

test("writes, repairs and stages are counted", async () => {
  const samples = samplesIn(await pageWith());
  const writes = "quartermaster_install_plan_writes_total";
  expect([valueOf(samples, writes, "apply"), valueOf(samples, writes, "delete")]).toEqual([2, 0]);
  expect(valueOf(samples, "quartermaster_install_plan_repairs_total", "reverted")).toBe(1);
  expect(valueOf(samples, "quartermaster_install_plan_repairs_total", "recreated")).toBe(0);
  expect(valueOf(samples, "quartermaster_install_plan_stage_seconds_sum")).toBe(3);
});

test("the reference page lists every series of the operator, and no other", async () => {
  const served = [...(await pageWith()).matchAll(/^# TYPE (\w+)/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => !/^(?:nodejs|process)_/.test(name));
  const page = readFileSync(join(repository, "docs/reference/metrics.md"), "utf8");
  const listed = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = ""]) => name);
  expect(listed.toSorted()).toEqual(served.toSorted());
});

const dashboard = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
});

const queries = globSync(join(repository, "config/dashboards/*.json")).flatMap((file) =>
  dashboard
    .parse(JSON.parse(readFileSync(file, "utf8")))
    .panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr }))),
);

/** Put on by Prometheus when it scrapes. */
const targetLabels = new Set(["namespace", "pod", "le"]);

test("there are dashboards", () => {
  expect(queries.length).toBeGreaterThan(10);
});

test.each(queries)("the panel “$title” requests a series and labels that exist: $expr", async ({ expr }) => {
  const samples = samplesIn(await allPages([aPlan("Installed", { total: 1, ready: 1 })]));
  const selectors = [...expr.matchAll(/([a-z]\w*_\w+)\{([^}]*)\}/g)];
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels = ""]) => labels.split(", "));
  expect(selectors).not.toEqual([]);
  for (const [, name, matchers = ""] of selectors) {
    const matched = [...matchers.matchAll(/(\w+)=~?"/g)].map(([, label = ""]) => label);
    const wanted = [...matched, ...grouped].filter((label) => !targetLabels.has(label));
    const series = samples.filter((sample) => sample.name === name);
    expect(series.filter(({ labels }) => wanted.every((label) => label in labels))).not.toEqual([]);
  }
});

test("replicas that stand by do not count plans twice on a dashboard", () => {
  const gauges = /quartermaster_install_plans\{|quartermaster_install_plan_resources\{/;
  const counting = queries.filter(({ expr }) => gauges.test(expr)).map(({ expr }) => expr);
  expect(counting).not.toEqual([]);
  for (const expr of counting) expect(expr).toMatch(/max by \(namespace, \w+\) \(quartermaster_/);
});
