import { describe, expect, test } from "vitest";

import { type Dashboard, dashboardFiles } from "../support/dashboard-files.ts";

const files = dashboardFiles();

test("there are seven dashboards, each with a uid and a title of its own", () => {
  const all = [...files.values()];
  expect([...files.keys()]).toHaveLength(7);
  expect(new Set(all.map(({ uid }) => uid)).size).toBe(7);
  expect(new Set(all.map(({ title }) => title)).size).toBe(7);
});

function cellsOf({ panels }: Dashboard): readonly string[] {
  return panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_each, at) => `${String(x + (at % w))},${String(y + Math.floor(at / w))}`),
  );
}

describe.each([...files])("dashboard %s", (_name, dashboard) => {
  test("has panels that do not overlap and do not leave the page", () => {
    const cells = cellsOf(dashboard);
    expect(new Set(cells).size).toBe(cells.length);
    expect(dashboard.panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  test("has panels and queries with names of their own", () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { targets } of dashboard.panels)
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
  });

  test("has every variable that its queries use, and legends of labels that they keep", () => {
    const known = new Set(dashboard.templating.list.map(({ name }) => name));
    for (const { targets } of dashboard.panels)
      for (const { expr, legendFormat } of targets) {
        const used = [...expr.matchAll(/\$(\w+)/g)].map(([, name = ""]) => name);
        expect(used.filter((name) => !known.has(name))).toEqual([]);
        const reported = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
        const kept = /by \(([^)]*)\)/.exec(expr)?.[1]?.split(", ");
        // Without an aggregation every label stays.
        expect(reported.filter((label) => kept?.includes(label) === false)).toEqual([]);
      }
  });
});
