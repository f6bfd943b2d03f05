import { type ExitCode, exitCode } from "./exit-code.ts";

/** Ends the program with a message for the person at the keyboard: what is wrong, then what to do. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: ExitCode;

  constructor(message: string, code: ExitCode = exitCode.failed) {
    super(message);
    this.code = code;
  }
}

/** The command line is wrong. */
export function usageError(message: string): CliError {
  return new CliError(message, exitCode.usage);
}
