import { stripVTControlCharacters } from "node:util";

import type { System } from "@quartermaster/runtime";

/** Where the program speaks: results to one place, words about them to another. */
export interface Terminal {
  /** Results; a newline is added. */
  write(text: string): void;
  /** Progress, warnings and errors; a newline is added. */
  note(text: string): void;
  /** Takes the place of what was drawn before, where that is possible. What a screen cannot hold is left out until the last time. */
  redraw(text: string, isLast: boolean): void;
  /** Whether results are read by a user now. */
  readonly isInteractive: boolean;
  readonly hasColor: boolean;
}

/** Standard output and standard error. Colours only for a terminal, and not with NO_COLOR. */
export function realTerminal({ env }: System): Terminal {
  const isInteractive = process.stdout.isTTY;
  let shownRows = 0;
  return {
    write: (text) => {
      process.stdout.write(`${text}\n`);
    },
    note: (text) => {
      process.stderr.write(`${text}\n`);
    },
    redraw: (text, isLast) => {
      const { columns, rows } = process.stdout;
      const drawn = isInteractive && !isLast ? fitted(text, { columns, rows }) : text;
      process.stdout.write(isInteractive ? `${eraseRows(shownRows)}${drawn}\n` : `${drawn}\n\n`);
      shownRows = rowsOf(drawn, columns);
    },
    isInteractive,
    hasColor: isInteractive && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb",
  };
}

/** Goes back over what was drawn, and no further: what stood above it stays. */
function eraseRows(rows: number): string {
  return rows === 0 ? "" : `\u{1b}[${rows}A\u{1b}[J`;
}

/**
 * As many lines from the top as the screen has room for, and how many more there are: rows that have scrolled away cannot be
 * drawn over, and would pile up.
 */
export function fitted(
  text: string,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): string {
  // The cursor stands on the row below.
  const room = rows - 1;
  if (!(rows > 2) || rowsOf(text, columns) <= room) return text;
  const lines = text.split("\n");
  let kept = 0;
  for (let used = 1; kept < lines.length; kept += 1) {
    used += rowsOf(lines[kept] ?? "", columns);
    if (used > room) break;
  }
  return [...lines.slice(0, kept), `… ${lines.length - kept} more lines`].join("\n");
}

/** Rows of the screen that the text takes; colours take no place, long lines several rows. Some terminals say they have no width. */
export function rowsOf(text: string, columns: number): number {
  if (!(columns > 0)) return text.split("\n").length;
  const lengths = stripVTControlCharacters(text)
    .split("\n")
    .map(({ length }) => length);
  return lengths.reduce((rows, length) => rows + Math.max(1, Math.ceil(length / columns)), 0);
}
