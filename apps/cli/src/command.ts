import type { System } from "@quartermaster/runtime";

import type { ExitCode } from "./errors.ts";
import type { Invocation, OptionSpecs } from "./input/invocation.ts";
import type { Terminal } from "./output/terminal.ts";

export interface CommandContext {
  readonly system: System;
  readonly terminal: Terminal;
  /** Aborts when the user wants to stop. */
  readonly signal: AbortSignal;
  readonly readStandardInput: () => Promise<Uint8Array>;
}

/** One command: what it is called, what it takes, what it does. */
export interface Command {
  /** One or two words. */
  readonly name: string;
  readonly summary: string;
  /** What follows the name, e.g. `<plan>`. */
  readonly operands: string;
  readonly options: OptionSpecs;
  readonly run: (invocation: Invocation, context: CommandContext) => Promise<ExitCode>;
}
