import { ApiError, classify, ConfigError } from "@quartermaster/runtime";

import type { Command, CommandContext } from "./command.ts";
import { allCommands } from "./commands/all-commands.ts";
import { CliError, usageError } from "./errors.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import { parseInvocation } from "./input/invocation.ts";
import type { Terminal } from "./output/terminal.ts";
import { cleanLines } from "./render/clean-text.ts";
import { commandText, overviewText } from "./render/help-text.ts";

/** Carries out one command line. Everything that goes wrong is told here, once. */
export async function run(words: readonly string[], surroundings: CommandContext): Promise<ExitCode> {
  const context = { ...surroundings, terminal: quiet(surroundings.terminal) };
  try {
    return await dispatch(words, context);
  } catch (error) {
    if (context.signal.aborted) return exitCode.stopped;
    context.terminal.note(`error: ${messageOf(error)}`);
    return codeOf(error);
  }
}

/** Warnings and errors repeat words of files and servers; they must not steer the person's terminal. */
function quiet(terminal: Terminal): Terminal {
  return { ...terminal, note: (text) => terminal.note(cleanLines(text, { colors: false })) };
}

async function dispatch(words: readonly string[], context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const isHelp = words.length === 0 || words[0] === "help" || words[0] === "--help" || words[0] === "-h";
  if (isHelp) {
    const asked = words[0] === "help" ? commandFor(words.slice(1)) : undefined;
    terminal.write(asked === undefined ? overviewText(allCommands) : commandText(asked));
    return exitCode.ok;
  }
  const command = commandFor(words);
  if (command === undefined)
    throw usageError(`there is no command ${words.slice(0, 2).join(" ")}; qm help lists them`);
  const invocation = parseInvocation(words.slice(command.name.split(" ").length), command.options);
  if (!invocation.flag("help")) return await command.run(invocation, context);
  terminal.write(commandText(command));
  return exitCode.ok;
}

function commandFor(words: readonly string[]): Command | undefined {
  return allCommands.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
}

const awayClasses: ReadonlySet<string> = new Set([
  "notFound",
  "transient",
  "timeout",
  "gone",
  "tooManyRequests",
]);

function codeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.code;
  if (error instanceof ConfigError || awayClasses.has(classify(error))) return exitCode.notFound;
  return exitCode.failed;
}

/** Of our own faults the stack is told too: somebody must find them. */
function messageOf(error: unknown): string {
  if (error instanceof ApiError)
    return [error.message, ...unsaid(error).map(({ field, message }) => `  ${field}: ${message}`)].join("\n");
  if (error instanceof CliError || error instanceof ConfigError || classify(error) === "aborted")
    return String(error instanceof Error ? error.message : error);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The server's message often says all that its causes say. */
function unsaid({ message, causes }: ApiError): ApiError["causes"] {
  return causes.filter((cause) => !(message.includes(cause.message) && message.includes(cause.field)));
}
