import { ApiError, classify, ConfigError } from "@quartermaster/runtime";

import type { Command, CommandContext } from "./command.ts";
import { allCommands } from "./commands/all-commands.ts";
import { CliError, type ExitCode, exitCode, usageError } from "./errors.ts";
import { parseInvocation } from "./input/invocation.ts";
import { cleanLines } from "./output/clean-text.ts";
import type { Terminal } from "./output/terminal.ts";
import { commandText, overviewText } from "./render/command-text.ts";

/** Carries out one command line. Everything that goes wrong is reported here, once. */
export async function run(words: readonly string[], environment: CommandContext): Promise<ExitCode> {
  const context = { ...environment, terminal: quiet(environment.terminal) };
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
  const asked = helpAsked(words);
  if (asked !== undefined) {
    terminal.write(helpOn(asked));
    return exitCode.ok;
  }
  const command = commandFor(words[0] === "--version" ? ["version", ...words.slice(1)] : words);
  if (command === undefined) throw usageError(noCommand(words));
  const invocation = parseInvocation(words.slice(command.name.split(" ").length), command.options);
  if (invocation.flag("help")) {
    terminal.write(commandText(command));
    return exitCode.ok;
  }
  if (command.operands === "" && invocation.positionals.length > 0)
    throw usageError(`${command.name} takes no arguments; unexpected ${invocation.positionals.join(" ")}`);
  return await command.run(invocation, context);
}

/** The words about which help is asked, none for all; undefined when something is to be done. */
function helpAsked(words: readonly string[]): readonly string[] | undefined {
  if (words.length === 0) return [];
  if (words[0] === "help") return words.slice(1);
  const isFlag = (word: string | undefined): boolean => word === "--help" || word === "-h";
  if (isFlag(words[0])) return [];
  return isFlag(words[1]) && groupOf(words).length > 0 ? words.slice(0, 1) : undefined;
}

function helpOn(words: readonly string[]): string {
  const command = commandFor(words);
  if (command !== undefined) return commandText(command);
  const group = words.length === 1 ? groupOf(words) : [];
  if (words.length > 0 && group.length === 0) throw usageError(noCommand(words));
  return overviewText(words.length === 0 ? allCommands : group);
}

function noCommand(words: readonly string[]): string {
  const group = words.length === 1 ? groupOf(words) : [];
  if (group.length > 0)
    return `${words[0] ?? ""} requires a subcommand: ${group.map(({ name }) => name).join(", ")}`;
  if (words[0]?.startsWith("-") === true) return `${words[0]}: flags must follow the command; see qm help`;
  return `unknown command ${words.slice(0, 2).join(" ")}; see qm help`;
}

/** Commands whose first of two words it is. */
function groupOf([first]: readonly string[]): readonly Command[] {
  return allCommands.filter(({ name }) => name.startsWith(`${first ?? ""} `));
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

/** Of our own faults the stack is printed too: somebody must find them. */
function messageOf(error: unknown): string {
  if (error instanceof ApiError) return serverMessage(error);
  if (error instanceof CliError || error instanceof ConfigError || classify(error) === "aborted")
    return String(error instanceof Error ? error.message : error);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function serverMessage(error: ApiError): string {
  const { message, subject } = error;
  if (error.class === "notFound" && subject?.resource === "namespaces")
    return `namespace ${subject.name} does not exist; create it with kubectl create namespace ${subject.name}, or choose another one with --namespace`;
  return [message, ...unsaid(error).map((cause) => `  ${cause.field}: ${cause.message}`)].join("\n");
}

/** The server's message often says all that its causes say. */
function unsaid({ message, causes }: ApiError): ApiError["causes"] {
  return causes.filter((cause) => !(message.includes(cause.message) && message.includes(cause.field)));
}
