import { chartSvg, escaped, isoText } from "./chart-svg.ts";
import { pageStyle } from "./page-style.ts";
import type { Line, PanelData } from "./panel-data.ts";
import type { TimeRange } from "./query-range.ts";
import { valueText } from "./value-text.ts";

/** A page with the panels of one dashboard. */
export interface PageRequest {
  /** E.g. `team/logs: overview`. */
  readonly title: string;
  readonly range: TimeRange;
  readonly panels: readonly PanelData[];
}

/** One HTML file without scripts that loads nothing: it can be mailed, kept or attached to a ticket. */
export function dashboardPage({ title, range, panels }: PageRequest): string {
  const cards = panels.map((data) => card(data, range)).join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${pageStyle}</style>
</head>
<body>
<header><h1>${escaped(title)}</h1><p>${isoText(range.fromSeconds)} to ${isoText(range.toSeconds)}, a point each ${escaped(valueText(range.stepSeconds, "s"))}. Times are UTC.</p></header>
<main>
${cards}
</main>
</body>
</html>
`;
}

function card({ panel, lines, leftOut }: PanelData, range: TimeRange): string {
  const { title, description, unit, kind } = panel;
  const more = leftOut === 0 ? "" : `<p class="note">${String(leftOut)} more are not drawn.</p>`;
  const body =
    kind === "stat" ? statBody(panel, lines) : `${chartSvg({ lines, range, unit })}${legend(lines, unit)}`;
  const content = lines.length === 0 ? '<p class="empty">no data</p>' : body;
  return `<section><h2>${escaped(title)}</h2><p class="about">${escaped(description)}</p>${content}${more}</section>`;
}

/** The last value of each line; in words and in a colour where the panel has some for it. */
function statBody({ unit, words = [] }: PanelData["panel"], lines: readonly Line[]): string {
  const stats = lines.map(({ name, points }) => {
    const value = points.at(-1)?.value ?? 0;
    const known = words.find((each) => each.value === value);
    const text = known?.text ?? valueText(value, unit);
    return `<div class="stat ${known?.color ?? ""}"><strong>${escaped(text)}</strong><span>${escaped(shortened(name))}</span></div>`;
  });
  return `<div class="stats">${stats.join("")}</div>`;
}

function legend(lines: readonly Line[], unit: string | undefined): string {
  const entries = lines.map(({ name, points }, at) => {
    const last = valueText(points.at(-1)?.value ?? 0, unit);
    return `<li><i class="key c${String(at % 8)}"></i><span>${escaped(shortened(name))}</span><b>${escaped(last)}</b></li>`;
  });
  return `<ul>${entries.join("")}</ul>`;
}

/** Labels may be long; the whole name is in the chart. */
function shortened(name: string): string {
  return name.length > 60 ? `${name.slice(0, 59)}…` : name;
}
