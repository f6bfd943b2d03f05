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
export function axisMarks(low: number, high: number, unit = "short"): readonly number[] {
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const power = unit === "bytes" ? Math.max(0, Math.floor(Math.log(largest) / Math.log(1024))) : 0;
  const scale = 1024 ** power;
  return roundMarks(low / scale, high / scale, 4).map((mark) => mark * scale);
}

function roundMarks(low: number, high: number, most: number): readonly number[] {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10) * power;
  const marks: number[] = [];
  // Values of an exporter may be so large that adding 1 changes nothing: the count ends the loop, not the sum.
  const first = Math.ceil(low / step);
  for (let count = 0; count <= most && (first + count) * step <= high + step * 1e-6; count += 1)
    marks.push(Number(((first + count) * step).toPrecision(12)));
  return marks;
}
