/** Columns as wide as their widest cell, two spaces between them. */
export function table(rows: readonly (readonly string[])[]): string {
  return tableLines(rows).join("\n");
}

/** The same, one text per row. */
export function tableLines(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
