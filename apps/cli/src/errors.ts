/** Ends the program with a message for the user at the keyboard: what is wrong, then what to do. */
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

/** How the program ends; docs/guides/cli.md lists them. */
export const exitCode = {
  ok: 0,
  /** Something is wrong with the input, or the server refused it. */
  failed: 1,
  /** The command line itself is wrong. */
  usage: 2,
  /** The plan is not ready, or there are differences. */
  notReady: 3,
  /** The object, the file or the cluster is not there. */
  notFound: 4,
  /** The user broke it off, as shells count it. */
  stopped: 130,
  /** The reader of the output went away, likewise. */
  unheard: 141,
} as const;

/** One of them. */
export type ExitCode = (typeof exitCode)[keyof typeof exitCode];
