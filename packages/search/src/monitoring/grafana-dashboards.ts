import { digestOf, type JsonObject } from "@quartermaster/runtime";

import type { AlertScope } from "./alert-rules.ts";
import { dashboardPanels, type Panel } from "./dashboard-panels.ts";

/** A dashboard of Grafana, and the name of its file. */
export interface GrafanaDashboard {
  /** E.g. `overview`. */
  readonly name: string;
  readonly model: JsonObject;
}

/** The dashboards. With a scope they open on that cluster, and can stand beside those of others. */
export function grafanaDashboards(scope?: AlertScope): readonly GrafanaDashboard[] {
  return Object.entries(dashboardPanels).map(([name, { title, panels }]) => ({
    name,
    model: {
      title:
        scope === undefined ? `Search clusters: ${title}` : `${scope.namespace}/${scope.cluster}: ${title}`,
      uid: `quartermaster-search-${name}${scope === undefined ? "" : `-${digestOf(scope).slice(0, 8)}`}`,
      schemaVersion: 41,
      tags: ["quartermaster", "search"],
      editable: true,
      refresh: "30s",
      time: { from: "now-6h", to: "now" },
      templating: { list: [datasource, variable("namespace", scope), variable("cluster", scope)] },
      panels: panels.map(panelModel),
    },
  }));
}

const datasource: JsonObject = {
  name: "datasource",
  type: "datasource",
  query: "prometheus",
  label: "data source",
};

const source: JsonObject = { type: "prometheus", uid: "$datasource" };

function variable(label: "namespace" | "cluster", scope: AlertScope | undefined): JsonObject {
  const only = scope?.[label];
  return {
    name: label,
    type: "query",
    datasource: source,
    query: { query: `label_values(quartermaster_search_exporter_up, ${label})`, refId: label },
    includeAll: true,
    allValue: ".*",
    current: only === undefined ? { text: "All", value: "$__all" } : { text: only, value: only },
  };
}

const columns = 3;
const width = 24 / columns;
const height = 8;

function mappings(terms: NonNullable<Panel["labels"]>): readonly JsonObject[] {
  const options = terms.map(({ value, text, color }, index) => [String(value), { text, color, index }]);
  return [{ type: "value", options: Object.fromEntries(options) }];
}

function panelModel(
  { title, description, unit = "short", kind = "timeseries", queries, labels }: Panel,
  at: number,
): JsonObject {
  return {
    id: at + 1,
    title,
    description,
    type: kind,
    datasource: source,
    gridPos: { x: (at % columns) * width, y: Math.floor(at / columns) * height, w: width, h: height },
    fieldConfig: {
      defaults: { unit, ...(labels === undefined ? {} : { mappings: mappings(labels) }) },
      overrides: [],
    },
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: "ABCDEFGH".charAt(index),
      datasource: source,
      expr,
      legendFormat,
    })),
  };
}
