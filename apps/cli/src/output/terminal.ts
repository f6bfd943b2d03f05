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
  return {
    write: (text) => {
      process.stdout.write(`${text}\n`);
    },
    note: (text) => {
      process.stderr.write(`${text}\n`);
    },
    redraw: (text) => {
      process.stdout.write(isInteractive ? `${homeAndClear}${text}\n` : `${text}\n\n`);
    },
    isInteractive,
    hasColor: isInteractive && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb",
  };
}

const homeAndClear = "\u{1b}[H\u{1b}[2J";
