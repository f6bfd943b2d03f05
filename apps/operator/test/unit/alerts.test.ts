import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { realSystem } from "@quartermaster/runtime";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";

import { allPages, samplesIn } from "../support/metrics-page.ts";

const repository = join(import.meta.dirname, "../../../..");
const alert = z.object({
  alert: z.string().regex(/^[A-Z][A-Za-z]+$/),
  expr: z.string(),
  for: z.string().regex(/^\d+[mh]$/),
  labels: z.object({ severity: z.enum(["critical", "warning", "info"]) }),
  annotations: z.object({ summary: z.string().min(1), description: z.string().min(1) }),
});
const file = z.object({
  apiVersion: z.literal("monitoring.coreos.com/v1"),
  kind: z.literal("PrometheusRule"),
  spec: z.object({ groups: z.array(z.object({ name: z.string(), rules: z.array(alert) })) }),
});

const files = globSync(join(repository, "config/alerts/*.yaml")).map((path) =>
  file.parse(parse(readFileSync(path, "utf8"))),
);
const alerts = files.flatMap(({ spec }) => spec.groups.flatMap(({ rules }) => rules));

/** Put on by Prometheus when it scrapes, or made by it. */
const otherLabels = new Set(["namespace", "pod", "le"]);

test("there are alerts, each with a name of its own", () => {
  expect(alerts.length).toBeGreaterThan(5);
  expect(new Set(alerts.map((each) => each.alert)).size).toBe(alerts.length);
});

describe.each(alerts)("$alert", ({ expr, annotations }) => {
  test("requests series, labels and values that exist", async () => {
    const samples = samplesIn(await allPages());
    const selectors = [...expr.matchAll(/((?:quartermaster|elastic|opensearch)_\w+)(?:\{([^}]*)\})?/g)];
    const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels = ""]) => labels.split(", "));
    const reported = [...annotations.description.matchAll(/\$labels\.(\w+)/g)].map(([, label = ""]) => label);
    // Only labels that the expression keeps can be told.
    expect(reported.filter((label) => !grouped.includes(label))).toEqual([]);
    expect(selectors).not.toEqual([]);
    for (const { 1: name, 2: matchers = "", index } of selectors) {
      const series = samples.filter((sample) => sample.name === name);
      expect(series, name).not.toEqual([]);
      const nearest = [...expr.slice(0, index).matchAll(/by \(([^)]*)\)/g)].at(-1)?.[1] ?? "";
      const wanted = nearest.split(", ").filter((label) => label !== "" && !otherLabels.has(label));
      const matched = [...matchers.matchAll(/(\w+)="([^"]*)"/g)];
      const found = series.filter(
        ({ labels }) =>
          wanted.every((label) => label in labels) &&
          matched.every(([, label = "", value = ""]) => labels[label] === value),
      );
      expect(found, expr).not.toEqual([]);
    }
  });

  test("has brackets that match and nothing but words of PromQL", () => {
    const counts = ["()", "{}", "[]"].map(
      ([open = "", close = ""]) => expr.split(open).length - expr.split(close).length,
    );
    expect(counts).toEqual([0, 0, 0]);
    const bare =
      expr.replaceAll(/\{[^}]*\}|\[[^\]]*\]|(?:by|on) \([^)]*\)|group_left \(\)/g, " ").match(/[a-z_]\w*/g) ??
      [];
    const terms =
      /^(?:(?:quartermaster|elastic|opensearch)_\w+|and|sum|max|min|min_over_time|changes|rate|increase|absent|time|histogram_quantile)$/;
    expect(bare.filter((text) => !terms.test(text))).toEqual([]);
  });
});

const promtool = realSystem().env["QM_PROMTOOL"] ?? "promtool";
const hasPromtool = spawnSync(promtool, ["--version"]).status === 0;

test.runIf(hasPromtool)(
  "promtool accepts the rules (skipped where Debian's package prometheus is not installed)",
  () => {
    const directory = mkdtempSync(join(tmpdir(), "alerts-"));
    try {
      for (const [at, { spec }] of files.entries()) {
        const path = join(directory, `${at}.yaml`);
        writeFileSync(path, stringify(spec));
        const { status, stdout, stderr } = spawnSync(promtool, ["check", "rules", path], {
          encoding: "utf8",
        });
        expect({ status, output: `${stdout}${stderr}` }).toMatchObject({ status: 0 });
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);
