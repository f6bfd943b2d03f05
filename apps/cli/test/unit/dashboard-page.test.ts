import type { Panel } from "@quartermaster/search/offline";
import { describe, expect, test } from "vitest";

import { axisTicks, valueText } from "../../src/dashboard/chart-svg.ts";
import { dashboardPage } from "../../src/dashboard/dashboard-page.ts";
import { type PanelData, readPanels } from "../../src/dashboard/panel-data.ts";
import { prometheusAt } from "../../src/dashboard/prometheus.ts";

const range = { fromSeconds: 1_700_000_000, toSeconds: 1_700_003_600, stepSeconds: 60 };
const panel: Panel = { title: "Nodes", description: "Members.", queries: [["up", "{{node}}"]] };

function points(...values: readonly number[]): { readonly at: number; readonly value: number }[] {
  return values.map((value, at) => ({ at: range.fromSeconds + at * 60, value }));
}

function pageOf(...panels: readonly Partial<PanelData>[]): string {
  const full = panels.map((each) => ({ panel, lines: [], leftOut: 0, ...each }));
  return dashboardPage({ title: "team/logs: overview", range, panels: full });
}

test.each<[number, string | undefined, string]>([
  [0, undefined, "0"],
  [1234, undefined, "1.23 k"],
  [1_610_612_736, "bytes", "1.5 GiB"],
  [0, "bytes", "0 B"],
  [42.345, "percent", "42.3 %"],
  [0.5, "percentunit", "50 %"],
  [0.0004, "s", "400 µs"],
  [0.0123, "s", "12.3 ms"],
  [90, "s", "90 s"],
  [5400, "s", "90 min"],
  [364.9, "d", "365 d"],
  [12.34, "ops", "12.3/s"],
  [-2, undefined, "-2"],
])("%d of unit %s is %s", (value, unit, want) => {
  expect(valueText(value, unit)).toBe(want);
});

test.each<{ low: number; high: number; unit?: string; want: readonly number[] }>([
  { low: 0, high: 1, want: [0, 0.5, 1] },
  { low: 0, high: 3.24, want: [0, 1, 2, 3] },
  { low: -4, high: 4, want: [-4, -2, 0, 2, 4] },
  { low: 0, high: 1_000_000, want: [0, 500_000, 1_000_000] },
  { low: 0, high: 160_000, unit: "bytes", want: [0, 51_200, 102_400, 153_600] },
  // So large that the next number is the same one: a walk by 1 would not end.
  { low: 1e17, high: 1e17 + 16, want: [1e17, 1e17, 1e17, 1e17, 1e17] },
])("marks between $low and $high $unit are round", ({ low, high, unit, want }) => {
  expect(axisTicks(low, high, unit)).toEqual(want);
});

describe("the page", () => {
  test("has no script, loads nothing, and says so to the browser", () => {
    const page = pageOf({ lines: [{ name: "a", points: points(1, 2) }] });
    expect(page).toContain("default-src 'none'; style-src 'unsafe-inline'");
    expect(page).not.toMatch(/<script|<img|<link|@import|url\(/i);
  });

  test("what comes from metrics stays text, in charts, legends and numbers", () => {
    const name = `"><img src=x onerror=alert(1)></title><script>alert('1')</script>&`;
    const lines = [{ name, points: points(1, 2) }];
    const page = pageOf({ lines }, { lines, panel: { ...panel, kind: "stat" } });
    expect(page).not.toMatch(/<img|<script/);
    expect(page).toContain("&quot;&gt;&lt;img src=x onerror=alert(1)&gt;");
  });

  test("a gap in the figures is a gap in the line, and a lone value a dot", () => {
    const [first, , third, fourth] = points(1, 2, 3, 4);
    const lone = { at: range.fromSeconds + 1800, value: 2 };
    const far = [first, third, fourth, lone].flatMap((each) => (each === undefined ? [] : [each]));
    const page = pageOf({ lines: [{ name: "a", points: far }] });
    expect(page.match(/<polyline/g)).toHaveLength(1);
    expect(page.match(/<circle/g)).toHaveLength(1);
  });

  test("a panel without figures says so", () => {
    expect(pageOf({})).toContain('<p class="empty">no data</p>');
  });

  test("a number that has a word is shown with it, in its colour", () => {
    const labels = [{ value: 1, text: "yellow", color: "yellow" }] as const;
    const page = pageOf({
      panel: { ...panel, kind: "stat", labels },
      lines: [{ name: "logs", points: points(0, 1) }],
    });
    expect(page).toContain('<div class="stat yellow"><strong>yellow</strong><span>logs</span></div>');
  });
});

describe("figures", () => {
  const scope = { namespace: "team", cluster: "logs.eu", range, signal: AbortSignal.timeout(10_000) };
  const responseOf = (result: readonly object[]): object => ({
    status: "success",
    data: { resultType: "matrix", result },
  });

  test("are requested for one cluster; what is no number is left out, and of too many lines the rest", async () => {
    const requested: string[] = [];
    const result = Array.from({ length: 30 }, (_each, at) => ({
      metric: { node: `n${String(at + 10)}` },
      values: [
        [range.fromSeconds, "NaN"],
        [range.toSeconds, "+Inf"],
        ...(at === 0 ? [] : [[range.toSeconds, "3"]]),
      ],
    }));
    const chosen = {
      ...panel,
      queries: [['up{namespace=~"$namespace",cluster=~"$cluster"}', "{{node}}"]],
    } as const;
    const [data] = await readPanels(
      [chosen],
      async (path) => {
        requested.push(new URL(path, "http://localhost").searchParams.get("query") ?? "");
        return await Promise.resolve(responseOf(result));
      },
      scope,
    );
    expect(requested).toEqual([String.raw`up{namespace=~"team",cluster=~"logs\\.eu"}`]);
    expect(data?.lines).toHaveLength(24);
    expect(data?.lines[0]).toEqual({ name: "n11", points: [{ at: range.toSeconds, value: 3 }] });
    expect(data?.leftOut).toBe(5);
  });

  test.each<[string, unknown, RegExp]>([
    ["a refusal", { status: "error", error: "parse error" }, /refuses a query: parse error/],
    ["something else", { status: "success", data: {} }, /not one of Prometheus/],
    ["a page", "<html>", /not one of Prometheus/],
  ])("%s instead of a response is reported", async (_name, response, want) => {
    const request = async (): Promise<unknown> => await Promise.resolve(response);
    await expect(readPanels([panel], request, scope)).rejects.toThrow(want);
  });

  test.each<[string, RegExp]>([
    ["file:///etc/passwd", /http:\/\/ or https:\/\//],
    ["nonsense", /http:\/\/ or https:\/\//],
    ["http://admin:secret@localhost:9090", /must not hold a password/],
  ])("the address %s is refused", (address, want) => {
    expect(() => prometheusAt(address, undefined)).toThrow(want);
  });
});
