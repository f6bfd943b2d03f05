import { dayMs, type Moment, type Week } from "./autoscaling-week.ts";

const width = 960;
const left = 40;
const right = 16;
const rowHeight = 132;
const plotHeight = 88;
const top = 58;
const most = 12;
const days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

const colours = { load: "#c9d7e8", recommendation: "#d9822b", nodes: "#1f5fa8", lost: "#f3e3e3" } as const;

/** Load, recommendation and nodes of each week, one below the other. The same weeks give the same text. */
export function weekChart(weeks: readonly Week[]): string {
  const height = top + weeks.length * rowHeight;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${String(width)}" height="${String(height)}" viewBox="0 0 ${String(width)} ${String(height)}" font-family="sans-serif" font-size="12">`,
    `<title>A week of auto-scaling, simulated</title>`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    `<text x="${String(left)}" y="22" font-size="15" fill="#222222">A week of auto-scaling, simulated with the operator's own function</text>`,
    ...legend(),
    ...weeks.flatMap((week, at) => row(week, top + at * rowHeight)),
    `</svg>`,
  ].join("\n")}\n`;
}

function legend(): readonly string[] {
  const entries = [
    ["nodes that the load needs at its target", colours.load],
    ["recommendation", colours.recommendation],
    ["nodes", colours.nodes],
    ["no samples", colours.lost],
  ] as const;
  return entries.flatMap(([text, colour], at) => {
    const x = left + ([0, 270, 400, 470][at] ?? 0);
    return [
      `<rect x="${String(x)}" y="33" width="12" height="10" fill="${colour}"/>`,
      `<text x="${String(x + 18)}" y="42" fill="#444444">${text}</text>`,
    ];
  });
}

function row({ name, moments }: Week, y: number): readonly string[] {
  const base = y + 18 + plotHeight;
  return [
    `<text x="${String(left)}" y="${String(y + 12)}" fill="#222222">${name}</text>`,
    ...lostRects(moments, y + 18),
    ...days.flatMap((day, at) => {
      const x = fixed(xOf(at * dayMs));
      return [
        `<line x1="${x}" y1="${String(y + 18)}" x2="${x}" y2="${String(base)}" stroke="#e4e4e4"/>`,
        `<text x="${x}" y="${String(base + 12)}" font-size="10" fill="#777777">${day}</text>`,
      ];
    }),
    ...[0, 4, 8, 12].map(
      (nodes) =>
        `<text x="${String(left - 6)}" y="${fixed(yOf(nodes, base) + 4)}" font-size="10" text-anchor="end" fill="#777777">${String(nodes)}</text>`,
    ),
    `<path d="${area(moments, base)}" fill="${colours.load}"/>`,
    `<path d="${steps(moments, "recommendation", base)}" fill="none" stroke="${colours.recommendation}" stroke-width="1.5"/>`,
    `<path d="${steps(moments, "nodes", base)}" fill="none" stroke="${colours.nodes}" stroke-width="2"/>`,
    `<line x1="${String(left)}" y1="${String(base)}" x2="${String(width - right)}" y2="${String(base)}" stroke="#999999"/>`,
  ];
}

function xOf(atMs: number): number {
  return left + ((width - left - right) * atMs) / (7 * dayMs);
}

function yOf(nodes: number, base: number): number {
  return base - (plotHeight * Math.min(nodes, most)) / most;
}

function fixed(value: number): string {
  return value.toFixed(1);
}

/** One point for each quarter of an hour: the greatest of it. */
function area(moments: readonly Moment[], base: number): string {
  const size = 30;
  const points = Array.from({ length: Math.ceil(moments.length / size) }, (_, at) => {
    const part = moments.slice(at * size, (at + 1) * size);
    const needed = Math.max(...part.map((moment) => moment.needed));
    return `L${fixed(xOf(part[0]?.atMs ?? 0))},${fixed(yOf(needed, base))}`;
  });
  return `M${String(left)},${String(base)}${points.join("")}L${String(width - right)},${String(base)}Z`;
}

function steps(moments: readonly Moment[], what: "recommendation" | "nodes", base: number): string {
  let before: number | undefined;
  const path = moments.flatMap((moment) => {
    const value = moment[what];
    if (value === before) return [];
    const start = before === undefined ? `M${fixed(xOf(moment.atMs))},` : `H${fixed(xOf(moment.atMs))}V`;
    before = value;
    return [`${start}${fixed(yOf(value, base))}`];
  });
  return `${path.join("")}H${String(width - right)}`;
}

function lostRects(moments: readonly Moment[], y: number): readonly string[] {
  const edges = moments.filter(({ isLost }, at) => isLost !== (moments[at - 1]?.isLost ?? false));
  const ends = [...edges.map(({ atMs }) => atMs), ...(edges.length % 2 === 0 ? [] : [7 * dayMs])];
  return Array.from({ length: ends.length / 2 }, (_, at) => {
    const [from = 0, to = 0] = [ends[2 * at], ends[2 * at + 1]];
    return `<rect x="${fixed(xOf(from))}" y="${String(y)}" width="${fixed(xOf(to) - xOf(from))}" height="${String(plotHeight)}" fill="${colours.lost}"/>`;
  });
}
