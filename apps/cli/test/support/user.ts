import { realSystem, type System } from "@quartermaster/runtime";

import { run } from "../../src/run.ts";

export interface Output {
  readonly code: number;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly err: string;
}

/** Who types: with which environment, into which standard input. */
export interface UserOptions {
  readonly env?: System["env"];
  readonly input?: string | Uint8Array;
  /** Called instead of waiting. */
  readonly onSleep?: () => Promise<void>;
}

/** Types one command line and reads what comes back. */
export async function type(args: readonly string[], options: UserOptions = {}): Promise<Output> {
  const { env = {}, input = "", onSleep } = options;
  const [out, err]: [string[], string[]] = [[], []];
  const system = { ...realSystem(), env };
  const code = await run(args, {
    system: onSleep === undefined ? system : { ...system, sleep: onSleep },
    terminal: {
      write: (text) => out.push(text),
      note: (text) => err.push(text),
      redraw: (text) => out.push(text),
      isInteractive: false,
      hasColor: false,
    },
    signal: AbortSignal.timeout(60_000),
    readStandardInput: async () => await Promise.resolve(Buffer.from(input)),
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}
