import { fieldOf, printable } from "@quartermaster/runtime";

/** One metric of the page; the label `cluster` is added when the page is made. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A series that the exporter may serve. */
export interface SeriesSpec {
  readonly name: string;
  readonly help: string;
}

/** A metric, unless the engine did not report it. */
export function sampleOf(
  name: string,
  value: number | undefined,
  labels: Readonly<Record<string, string>> = {},
): readonly Sample[] {
  return value === undefined ? [] : [{ name, labels, value }];
}

/** The number at a path such as `jvm.mem.heap_used_percent`; undefined where there is none. */
export function numberAt(value: unknown, path: string): number | undefined {
  const found = path.split(".").reduce<unknown>((at, field) => fieldOf(at, field), value);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

/** Longest label value. */
const labelLimit = 253;

/** Samples as Prometheus reads them, grouped by series in a fixed order. Two with the same labels are one: Prometheus would refuse the page. */
export function pageText(samples: readonly Sample[], series: readonly SeriesSpec[], cluster: string): string {
  const byName = new Map<string, Map<string, number>>();
  for (const { name, labels, value } of samples) {
    const lines = byName.get(name) ?? new Map<string, number>();
    byName.set(name, lines.set(labelText({ cluster, ...labels }), value));
  }
  return series
    .flatMap(({ name, help }) => {
      const lines = [...(byName.get(name) ?? [])].map(
        ([labels, value]) => `${name}{${labels}} ${String(value)}`,
      );
      return lines.length === 0 ? [] : [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...lines];
    })
    .map((line) => `${line}\n`)
    .join("");
}

function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}="${escaped(value.slice(0, labelLimit))}"`)
    .join(",");
}

/** Text of the engine must not end its label, nor its line. */
function escaped(text: string): string {
  return printable(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"');
}
