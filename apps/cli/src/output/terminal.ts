import { stripVTControlCharacters } from "node:util";

import type { System } from "@quartermaster/runtime";

/** Where the program speaks: results to one place, words about them to another. */
export interface Terminal {
  /** Results; a newline is added. */
  write(text: string): void;
  /** Progress, warnings and errors; a newline is added. */
  note(text: string): void;
  /** Takes the place of what was written before, where that is possible. */
  redraw(text: string): void;
  /** Whether results are read by a person now. */
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
    redraw: (text) => {
      process.stdout.write(isInteractive ? `${eraseRows(shownRows)}${text}\n` : `${text}\n\n`);
      shownRows = rowsOf(text, process.stdout.columns);
    },
    isInteractive,
    hasColor: isInteractive && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb",
  };
}

/** Goes back over what was drawn, and no further: what stood above it stays. */
function eraseRows(rows: number): string {
  return rows === 0 ? "" : `\u{1b}[${rows}A\u{1b}[J`;
}

/** Rows of the screen that the text takes; colours take no place, long lines several rows. Some terminals say they have no width. */
export function rowsOf(text: string, columns: number): number {
  if (!(columns > 0)) return text.split("\n").length;
  const lengths = stripVTControlCharacters(text)
    .split("\n")
    .map(({ length }) => length);
  return lengths.reduce((rows, length) => rows + Math.max(1, Math.ceil(length / columns)), 0);
}
