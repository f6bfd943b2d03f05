import type { Command } from "../command.ts";
import { commonOptions, type OptionSpec } from "../input/invocation.ts";
import { tableLines } from "./table.ts";

export function overviewText(commands: readonly Command[]): string {
  return [
    "qm is the command-line tool of Quartermaster.",
    "",
    "Usage: qm <command> [options]",
    "",
    ...indented(commands.map(({ name, summary }) => [name, summary])),
    "",
    'Use "qm <command> --help" for more information about a command.',
    "Exit codes: 0 success, 1 failure, 2 usage error, 3 not ready or different, 4 not found or unreachable.",
  ].join("\n");
}

export function commandText({ name, summary, operands, options }: Command): string {
  const entries = Object.entries({ ...options, ...commonOptions });
  return [
    `qm ${name}: ${summary}`,
    "",
    `Usage: qm ${name}${operands === "" ? "" : ` ${operands}`} [options]`,
    "",
    ...indented(entries.map(([option, spec]) => [flagOf(option, spec), spec.describe])),
  ].join("\n");
}

function indented(rows: readonly (readonly string[])[]): readonly string[] {
  return tableLines(rows).map((line) => `  ${line}`);
}

function flagOf(option: string, { type, short }: OptionSpec): string {
  return `${short === undefined ? "    " : `-${short}, `}--${option}${type === "string" ? " <…>" : ""}`;
}
