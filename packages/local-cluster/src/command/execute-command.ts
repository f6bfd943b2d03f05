import { COMPONENTS } from "../assets/component.ts";
import type { ProgressStream } from "../assets/progress-printer.ts";
import { progressPrinter } from "../assets/progress-printer.ts";
import { resolveBinaries } from "../assets/resolve.ts";
import type { ReadyApi } from "../cluster/options.ts";
import { LocalClusterError } from "../errors.ts";
import { realSystem } from "../system/system.ts";
import type { System } from "../system/system.ts";
import { bringDown } from "./bring-down.ts";
import { bringUp } from "./bring-up.ts";
import type { Command } from "./parse-command.ts";
import { HELP, parseCommand } from "./parse-command.ts";
import { showStatus } from "./show-status.ts";

/** Where a command writes: results to `out`, progress and errors to `err`. */
export interface Terminal {
  readonly out: ProgressStream;
  readonly err: ProgressStream;
  /** Called by `up` once the API of a new cluster answers; see `LocalClusterOptions`. */
  readonly onApiReady?: (api: ReadyApi) => void;
}

/** Runs one command of the `local-cluster` program. Returns its exit code: 0 done, 1 failed, 2 not understood. */
export async function executeCommand(
  argv: readonly string[],
  terminal: Terminal,
  system: System = realSystem,
): Promise<number> {
  try {
    return await dispatch(parseCommand(argv), terminal, system);
  } catch (error) {
    if (!(error instanceof LocalClusterError)) throw error;
    terminal.err.write(`${error.message}\n`);
    return error.code === "BadUsage" ? 2 : 1;
  }
}

async function dispatch(command: Command, terminal: Terminal, system: System): Promise<number> {
  switch (command.kind) {
    case "up":
      return await bringUp(command.options, terminal, system);
    case "down":
      return await bringDown(command.name, terminal, system);
    case "status":
      return showStatus(command.name, terminal, system);
    case "build":
      return await buildOnly(command.kubernetesVersion, terminal, system);
    case "help":
      terminal.out.write(HELP);
      return 0;
    default:
      return unreachable(command);
  }
}

async function buildOnly(version: string | undefined, terminal: Terminal, system: System): Promise<number> {
  const components = COMPONENTS.map(({ name }) => name);
  const binaries = await resolveBinaries({
    components,
    system,
    report: progressPrinter(terminal.err, system),
    ...(version === undefined ? {} : { version }),
  });
  for (const name of components) terminal.out.write(`${binaries.path(name)}\n`);
  return 0;
}

function unreachable(command: never): never {
  throw new Error(`unknown command ${JSON.stringify(command)}`);
}
