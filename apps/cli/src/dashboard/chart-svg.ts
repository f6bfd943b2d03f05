import type { Line, Point } from "./panel-data.ts";
import type { TimeRange } from "./prometheus.ts";

export interface ChartRequest {
  readonly lines: readonly Line[];
  readonly range: TimeRange;
  readonly unit?: string | undefined;
}

const chartSize = { width: 460, height: 190 } as const;
const frame = { left: 54, right: 10, top: 8, bottom: 22 } as const;

/** Text as it may stand in HTML or SVG, also in an attribute. Names of others cannot become marks of ours. */
export function escaped(text: string): string {
  const ticks: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replaceAll(/[&<>"']/g, (tick) => ticks[tick] ?? "");
}

/** A chart of lines over time as SVG, without scripts: colours are classes `c0` to `c7` of the page. */
export function chartSvg({ lines, range, unit }: ChartRequest): string {
  const bounds = boundsOf(lines);
  const x = (at: number): number =>
    frame.left +
    ((at - range.fromSeconds) / (range.toSeconds - range.fromSeconds)) *
      (chartSize.width - frame.left - frame.right);
  const y = (value: number): number =>
    chartSize.height -
    frame.bottom -
    ((value - bounds.low) / (bounds.high - bounds.low)) * (chartSize.height - frame.top - frame.bottom);
  const paths = lines.map((line, at) => lineSvg(line, { x, y, at, stepSeconds: range.stepSeconds }));
  const rows = axisTicks(bounds.low, bounds.high, unit).map((tick) => rowSvg(y(tick), valueText(tick, unit)));
  const columns = timeTicks(range).map((tick) => columnSvg(x(tick), clockText(tick, range)));
  const area = lines.length === 1 ? areaSvg(lines[0]?.points ?? [], { x, y, range }) : "";
  return `<svg viewBox="0 0 ${String(chartSize.width)} ${String(chartSize.height)}" role="img">${rows.join("")}${columns.join("")}${area}${paths.join("")}</svg>`;
}

/** From zero, so that a small change does not look like a large one; below it where values are. */
function boundsOf(lines: readonly Line[]): { readonly low: number; readonly high: number } {
  const values = lines.flatMap(({ points }) => points.map(({ value }) => value));
  const low = values.reduce((least, value) => Math.min(least, value), 0);
  const high = values.reduce((most, value) => Math.max(most, value), 0);
  if (low === high) return { low: 0, high: 1 };
  return { low: low < 0 ? low * 1.08 : 0, high: high > 0 ? high * 1.08 : 0 };
}

interface Location {
  readonly x: (at: number) => number;
  readonly y: (value: number) => number;
}

function lineSvg(
  { name, points }: Line,
  { x, y, at, stepSeconds }: Location & { readonly at: number; readonly stepSeconds: number },
): string {
  const runs = runsOf(points, stepSeconds);
  const colour = `c${String(at % 8)}`;
  const title = `<title>${escaped(name)}</title>`;
  return runs
    .map((run) => {
      const [first] = run;
      if (first !== undefined && run.length === 1)
        return `<circle class="dot ${colour}" cx="${coordinate(x(first.at))}" cy="${coordinate(y(first.value))}" r="2">${title}</circle>`;
      const path = run.map((point) => `${coordinate(x(point.at))},${coordinate(y(point.value))}`).join(" ");
      return `<polyline class="line ${colour}${at >= 8 ? " dashed" : ""}" points="${path}">${title}</polyline>`;
    })
    .join("");
}

/** Where nothing was measured, nothing is drawn. */
function runsOf(points: readonly Point[], stepSeconds: number): readonly (readonly Point[])[] {
  const runs: Point[][] = [];
  for (const point of points) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run === undefined || last === undefined || point.at - last.at > 2.5 * stepSeconds) runs.push([point]);
    else run.push(point);
  }
  return runs;
}

function areaSvg(
  points: readonly Point[],
  { x, y, range }: Location & { readonly range: TimeRange },
): string {
  return runsOf(points, range.stepSeconds)
    .filter((run) => run.length > 1)
    .map((run) => {
      const [first, last] = [run[0], run.at(-1)];
      const top = run.map((point) => `${coordinate(x(point.at))},${coordinate(y(point.value))}`);
      const ends = [
        `${coordinate(x(last?.at ?? 0))},${coordinate(y(0))}`,
        `${coordinate(x(first?.at ?? 0))},${coordinate(y(0))}`,
      ];
      return `<polygon class="area" points="${[...top, ...ends].join(" ")}"/>`;
    })
    .join("");
}

function rowSvg(at: number, text: string): string {
  const height = coordinate(at);
  return `<line class="grid" x1="${String(frame.left)}" x2="${String(chartSize.width - frame.right)}" y1="${height}" y2="${height}"/><text class="mark" x="${String(frame.left - 6)}" y="${coordinate(at + 3.5)}" text-anchor="end">${escaped(text)}</text>`;
}

function columnSvg(at: number, text: string): string {
  return `<text class="mark" x="${coordinate(at)}" y="${String(chartSize.height - 6)}" text-anchor="middle">${text}</text>`;
}

/** Round times of the day, at most six. */
function timeTicks({ fromSeconds, toSeconds }: TimeRange): readonly number[] {
  const steps = [60, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800];
  const span = toSeconds - fromSeconds;
  const step = steps.find((each) => span / each <= 6) ?? span;
  const ticks: number[] = [];
  for (let at = Math.ceil(fromSeconds / step) * step; at <= toSeconds; at += step) ticks.push(at);
  // Those at the very edges would be cut off.
  return ticks.filter((at) => at - fromSeconds > span * 0.02 && toSeconds - at > span * 0.03);
}

/** In UTC, as the page says. */
function clockText(seconds: number, { fromSeconds, toSeconds }: TimeRange): string {
  const text = isoText(seconds);
  return toSeconds - fromSeconds > 2 * 86_400 ? text.slice(5, 10) : text.slice(11, 16);
}

/** `2026-11-17T15:04:05Z`. */
export function isoText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

function coordinate(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** A value in the words of its unit, as Grafana names units, e.g. `1.5 GiB` for 1610612736 `bytes`. */
export function valueText(value: number, unit = "short"): string {
  switch (unit) {
    case "bytes":
      return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
    case "percent":
      return `${digits(value)} %`;
    case "percentunit":
      return `${digits(value * 100)} %`;
    case "s":
      return secondsText(value);
    case "d":
      return `${digits(value)} d`;
    case "h":
      return `${digits(value)} h`;
    case "ops":
    case "reqps":
      return `${digits(value)}/s`;
    default:
      return scaled(value, 1000, ["", "k", "M", "G", "T"]);
  }
}

function scaled(value: number, base: number, steps: readonly string[]): string {
  const power = value === 0 ? 0 : Math.floor(Math.log(Math.abs(value)) / Math.log(base));
  const at = Math.min(Math.max(power, 0), steps.length - 1);
  return `${digits(value / base ** at)} ${steps[at] ?? ""}`.trim();
}

function secondsText(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0 s";
  if (size < 0.001) return `${digits(value * 1_000_000)} µs`;
  if (size < 1) return `${digits(value * 1000)} ms`;
  if (size < 120) return `${digits(value)} s`;
  if (size < 7200) return `${digits(value / 60)} min`;
  return size < 172_800 ? `${digits(value / 3600)} h` : `${digits(value / 86_400)} d`;
}

/** Three digits are enough to see, and no zeros at the end. */
function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

/** Round values between the bounds, at most about five, for the marks of an axis. Sizes are round in KiB, MiB and so on. */
export function axisTicks(low: number, high: number, unit = "short"): readonly number[] {
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const power = unit === "bytes" ? Math.max(0, Math.floor(Math.log(largest) / Math.log(1024))) : 0;
  const scale = 1024 ** power;
  return roundTicks(low / scale, high / scale, 4).map((tick) => tick * scale);
}

function roundTicks(low: number, high: number, most: number): readonly number[] {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10) * power;
  const ticks: number[] = [];
  // Values of an exporter may be so large that adding 1 changes nothing: the count ends the loop, not the sum.
  const first = Math.ceil(low / step);
  for (let count = 0; count <= most && (first + count) * step <= high + step * 1e-6; count += 1)
    ticks.push(Number(((first + count) * step).toPrecision(12)));
  return ticks;
}
