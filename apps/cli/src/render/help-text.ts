import type { Command } from "../command.ts";
import { commonOptions, type OptionSpec } from "../input/invocation.ts";

/** What the program can do. */
export function overviewText(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "qm, the command line of Quartermaster",
    "",
    "Usage: qm <command> [options]",
    "",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    "qm <command> --help shows the help of one command.",
    "Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 not ready or different, 4 not found or unreachable.",
  ].join("\n");
}

/** What one command takes. */
export function commandText({ name, summary, operands, options }: Command): string {
  const entries = Object.entries({ ...options, ...commonOptions }).map(
    ([option, spec]) => [flagOf(option, spec), spec.describe] as const,
  );
  const width = Math.max(...entries.map(([flag]) => flag.length));
  return [
    `qm ${name}: ${summary}`,
    "",
    `Usage: qm ${name}${operands === "" ? "" : ` ${operands}`} [options]`,
    "",
    ...entries.map(([flag, describe]) => `  ${flag.padEnd(width)}  ${describe}`),
  ].join("\n");
}

function flagOf(option: string, { type, short }: OptionSpec): string {
  return `${short === undefined ? "    " : `-${short}, `}--${option}${type === "string" ? " <…>" : ""}`;
}
