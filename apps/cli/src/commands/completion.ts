import type { Command } from "../command.ts";
import { exitCode, usageError } from "../errors.ts";
import { commonOptions } from "../input/invocation.ts";
import { completionScript, type Shell, shells } from "./completion-script.ts";

/** Prints the completion of one shell. The commands are those of the program, itself included. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    summary: `print the completion script of a shell: ${shells.join(", ")}`,
    operands: "<shell>",
    options: {},
    run: async ({ positionals }, { terminal }) => {
      const shell = shells.find((each) => each === positionals[0]);
      if (shell === undefined || positionals.length !== 1)
        throw usageError(`specify a shell: ${shells.join(", ")}`);
      terminal.write(scriptFor(shell, commands()));
      return await Promise.resolve(exitCode.ok);
    },
  };
}

function scriptFor(shell: Shell, commands: readonly Command[]): string {
  const known = commands.map(({ name, summary, options }) => ({
    name,
    summary,
    flags: Object.keys({ ...options, ...commonOptions }).map((option) => `--${option}`),
  }));
  return completionScript(shell, known);
}
