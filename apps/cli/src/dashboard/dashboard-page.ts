import { chartSvg, escaped, isoText, valueText } from "./chart-svg.ts";
import type { Line, PanelData } from "./panel-data.ts";
import type { TimeRange } from "./prometheus.ts";

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

/** The last value of each line, as a label and in a color where the panel has some for it. */
function statBody({ unit, labels = [] }: PanelData["panel"], lines: readonly Line[]): string {
  const stats = lines.map(({ name, points }) => {
    const value = points.at(-1)?.value ?? 0;
    const known = labels.find((each) => each.value === value);
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

/** The page's style: light or dark as the reader prefers; colours that can be told apart without red and green. */
const pageStyle = `
:root { color-scheme: light dark; --page: #f4f5f7; --card: #fff; --text: #1d2330; --soft: #667085; --grid: #e4e7ec;
  --c0: #3366cc; --c1: #e07b00; --c2: #109a8c; --c3: #b3487f; --c4: #7a5cc8; --c5: #8a6d00; --c6: #2a93d5; --c7: #c0442d; }
@media (prefers-color-scheme: dark) { :root { --page: #12151c; --card: #1b1f29; --text: #e6e9ef; --soft: #98a2b3; --grid: #2c323f;
  --c0: #6f9bff; --c1: #ffa63d; --c2: #3ecdbd; --c3: #ee86b7; --c4: #ab92f5; --c5: #d9b83a; --c6: #66bdf2; --c7: #f47e66; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 24px; background: var(--page); color: var(--text); font: 14px/1.45 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
header { max-width: 1500px; margin: 0 auto 18px; }
h1 { margin: 0; font-size: 22px; font-weight: 650; letter-spacing: -0.01em; }
header p { margin: 4px 0 0; color: var(--soft); }
main { max-width: 1500px; margin: 0 auto; display: grid; gap: 16px; grid-template-columns: repeat(auto-fill, minmax(400px, 1fr)); }
section { background: var(--card); border: 1px solid var(--grid); border-radius: 10px; padding: 14px 16px 12px; display: flex; flex-direction: column; min-height: 280px; }
h2 { margin: 0; font-size: 15px; font-weight: 600; }
.about, .note { margin: 2px 0 8px; color: var(--soft); font-size: 12.5px; }
svg { width: 100%; height: auto; display: block; }
.grid { stroke: var(--grid); stroke-width: 1; }
.mark { fill: var(--soft); font-size: 10.5px; font-family: inherit; }
.line { fill: none; stroke: var(--ink); stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; }
.dashed { stroke-dasharray: 5 4; }
.dot { fill: var(--ink); }
.area { fill: var(--c0); opacity: 0.12; }
ul { list-style: none; margin: 8px 0 0; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(165px, 1fr)); gap: 2px 16px; font-size: 12.5px; }
li { display: flex; align-items: center; gap: 6px; min-width: 0; }
li span { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
li b { font-weight: 600; font-variant-numeric: tabular-nums; white-space: nowrap; }
.key { width: 10px; height: 10px; border-radius: 3px; background: var(--ink); flex: none; }
.c0 { --ink: var(--c0); } .c1 { --ink: var(--c1); } .c2 { --ink: var(--c2); } .c3 { --ink: var(--c3); }
.c4 { --ink: var(--c4); } .c5 { --ink: var(--c5); } .c6 { --ink: var(--c6); } .c7 { --ink: var(--c7); }
.stats { flex: 1; display: grid; place-items: center; gap: 10px; }
.stat { display: grid; place-items: center; }
.stat strong { font-size: 46px; font-weight: 700; line-height: 1.1; letter-spacing: -0.02em; }
.stat span { color: var(--soft); }
.green strong { color: #178a4c; } .yellow strong { color: #b27b00; } .red strong { color: #cf2e2e; }
.empty { flex: 1; display: grid; place-items: center; margin: 0; color: var(--soft); border: 1px dashed var(--grid); border-radius: 8px; }
@media (max-width: 480px) { main { grid-template-columns: 1fr; } body { padding: 12px; } }
@media print { body { background: none; padding: 0; } section { break-inside: avoid; } }
`;
