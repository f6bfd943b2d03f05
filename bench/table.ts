/** One measured figure, with what it is held against. */
export interface Row {
  readonly what: string;
  /** Empty for a line that explains the one above. */
  readonly measured: string;
  readonly bar?: string;
}

/** A part of the benchmarks. */
export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

export interface BenchOptions {
  /** Builds from nothing too. */
  readonly isCold: boolean;
  /** Smaller sizes and fewer rounds. */
  readonly isQuick: boolean;
  /** How long the idle row of the runtime looks on (default: 1). */
  readonly idleMinutes: number;
  /** Parts of a section to run; all when empty. */
  readonly only: readonly string[];
}

/** Prints a section as a table that also reads well in a note. */
export function printSection({ title, rows }: Section): void {
  const width = Math.max(...rows.filter(({ measured }) => measured !== "").map(({ what }) => what.length));
  const metricWidth = Math.max(...rows.map(({ measured }) => measured.length));
  console.log(`\n${title}`);
  for (const { what, measured, bar } of rows) {
    const line = `${what.padEnd(width)}  ${measured.padStart(metricWidth)}${bar === undefined ? "" : `   bar: ${bar}`}`;
    console.log(`  ${line.trimEnd()}`);
  }
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Seconds with one decimal. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Megabytes, rounded. */
export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

/** A ratio with two decimals. */
export function times(ratio: number): string {
  return `${ratio.toFixed(2)} ×`;
}
