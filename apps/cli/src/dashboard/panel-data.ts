import { printable } from "@quartermaster/runtime";
import type { Panel } from "@quartermaster/search/offline";

import { type QueryPrometheus, queryRange, type RangeSeries, type TimeRange } from "./prometheus.ts";

/** A line of a chart: values that are numbers, in the order of time. */
export interface Line {
  readonly name: string;
  readonly points: readonly Point[];
}

/** A value at a time, in seconds since the epoch. */
export interface Point {
  readonly at: number;
  readonly value: number;
}

/** A panel and what Prometheus has for it. */
export interface PanelData {
  readonly panel: Panel;
  readonly lines: readonly Line[];
  /** Lines that are not drawn, because there are too many. */
  readonly leftOut: number;
}

/** Whose figures, and of when. */
export interface PanelScope {
  readonly namespace: string;
  readonly cluster: string;
  readonly range: TimeRange;
  readonly signal: AbortSignal;
}

/** More cannot be told apart in a chart. */
const mostLines = 24;

/** Asks Prometheus for every query of the panels, one after the other. */
export async function readPanels(
  panels: readonly Panel[],
  request: QueryPrometheus,
  scope: PanelScope,
): Promise<readonly PanelData[]> {
  const data: PanelData[] = [];
  for (const panel of panels) {
    const lines: Line[] = [];
    for (const [expr, legend] of panel.queries) {
      const series = await queryRange(request, { ...scope, expr: filled(expr, scope) });
      lines.push(...series.map((each) => lineOf(each, legend)));
    }
    const shown = lines.filter(({ points }) => points.length > 0).toSorted(byName);
    data.push({ panel, lines: shown.slice(0, mostLines), leftOut: Math.max(0, shown.length - mostLines) });
  }
  return data;
}

/** Names of objects hold no character with a meaning in a pattern but the dot, and none that ends a string. */
function filled(expr: string, { namespace, cluster }: PanelScope): string {
  const literal = (name: string): string => name.replaceAll(".", String.raw`\\.`);
  return expr.replaceAll("$namespace", literal(namespace)).replaceAll("$cluster", literal(cluster));
}

function lineOf({ metric, values }: RangeSeries, legend: string): Line {
  const name = legend.replaceAll(/\{\{(\w+)\}\}/g, (_all, label: string) => metric[label] ?? "");
  const points = values.map(([at, text]) => ({ at, value: Number(text) }));
  return { name: printable(name).trim(), points: points.filter(({ value }) => Number.isFinite(value)) };
}

function byName(left: Line, right: Line): number {
  return left.name < right.name ? -1 : 1;
}
