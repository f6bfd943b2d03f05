import type { Command } from "../command.ts";
import { commonOptions, type OptionSpec } from "../input/invocation.ts";

/** What the program can do. */
export function overviewText(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    "qm is the command-line tool of Quartermaster.",
    "",
    "Usage: qm <command> [options]",
    "",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    'Use "qm <command> --help" for more information about a command.',
    "Exit codes: 0 success, 1 failure, 2 usage error, 3 not ready or different, 4 not found or unreachable.",
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
