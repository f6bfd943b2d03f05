import { ApiError, classify, ConfigError } from "@quartermaster/runtime";

import type { Command, CommandContext } from "./command.ts";
import { allCommands } from "./commands/all-commands.ts";
import { closestName } from "./commands/closest-name.ts";
import { CliError, type ExitCode, exitCode, usageError } from "./errors.ts";
import { parseInvocation } from "./input/invocation.ts";
import { cleanLines } from "./output/clean-text.ts";
import type { Terminal } from "./output/terminal.ts";
import { commandText, overviewText } from "./render/command-text.ts";

/** Carries out one command line. Everything that goes wrong is reported here, once. */
export async function run(args: readonly string[], environment: CommandContext): Promise<ExitCode> {
  const context = { ...environment, terminal: quiet(environment.terminal) };
  try {
    return await dispatch(args, context);
  } catch (error) {
    if (context.signal.aborted) return exitCode.stopped;
    context.terminal.note(`error: ${messageOf(error)}`);
    return codeOf(error);
  }
}

/** Warnings and errors repeat words of files and servers; they must not steer the user's terminal. */
function quiet(terminal: Terminal): Terminal {
  return { ...terminal, note: (text) => terminal.note(cleanLines(text, { colors: false })) };
}

async function dispatch(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const requested = helpRequested(args);
  if (requested !== undefined) {
    terminal.write(helpOn(requested));
    return exitCode.ok;
  }
  const command = commandFor(args[0] === "--version" ? ["version", ...args.slice(1)] : args);
  if (command === undefined) throw usageError(noCommand(args));
  const invocation = parseInvocation(args.slice(command.name.split(" ").length), command.options);
  if (invocation.flag("help")) {
    terminal.write(commandText(command));
    return exitCode.ok;
  }
  if (command.operands === "" && invocation.positionals.length > 0)
    throw usageError(`${command.name} takes no arguments; unexpected ${invocation.positionals.join(" ")}`);
  return await command.run(invocation, context);
}

/** The arguments that help was requested for, none for all; undefined when something is to be done. */
function helpRequested(args: readonly string[]): readonly string[] | undefined {
  if (args.length === 0) return [];
  if (args[0] === "help") return args.slice(1);
  const isFlag = (arg: string | undefined): boolean => arg === "--help" || arg === "-h";
  if (isFlag(args[0])) return [];
  return isFlag(args[1]) && groupOf(args).length > 0 ? args.slice(0, 1) : undefined;
}

function helpOn(args: readonly string[]): string {
  const command = commandFor(args);
  if (command !== undefined) return commandText(command);
  const group = args.length === 1 ? groupOf(args) : [];
  if (args.length > 0 && group.length === 0) throw usageError(noCommand(args));
  return overviewText(args.length === 0 ? allCommands : group);
}

function noCommand(args: readonly string[]): string {
  const group = args.length === 1 ? groupOf(args) : [];
  if (group.length > 0)
    return `${args[0] ?? ""} requires a subcommand: ${group.map(({ name }) => name).join(", ")}`;
  if (args[0]?.startsWith("-") === true) return `${args[0]}: flags must follow the command; see qm help`;
  const typed = args.slice(0, 2).join(" ");
  const meant =
    closestName(
      typed,
      allCommands.map(({ name }) => name),
    ) ?? closestName(args[0] ?? "", oneWordNames());
  return meant === undefined
    ? `unknown command ${typed}; see qm help`
    : `unknown command ${typed}; did you mean qm ${meant}?`;
}

function oneWordNames(): readonly string[] {
  return allCommands.map(({ name }) => name).filter((name) => !name.includes(" "));
}

/** Commands whose first of two words it is. */
function groupOf([first]: readonly string[]): readonly Command[] {
  return allCommands.filter(({ name }) => name.startsWith(`${first ?? ""} `));
}

function commandFor(args: readonly string[]): Command | undefined {
  return allCommands.find(({ name }) => name.split(" ").every((arg, index) => args[index] === arg));
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

/** Of our own faults the stack is printed too: another client must find them. */
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
  return [message, ...unstated(error).map((cause) => `  ${cause.field}: ${cause.message}`)].join("\n");
}

/** The server's message often says all that its causes say. */
function unstated({ message, causes }: ApiError): ApiError["causes"] {
  return causes.filter((cause) => !(message.includes(cause.message) && message.includes(cause.field)));
}
