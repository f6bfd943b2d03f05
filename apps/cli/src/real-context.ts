import { addAbortSignal } from "node:stream";
import { buffer } from "node:stream/consumers";

import { realSystem } from "@quartermaster/runtime";

import type { CommandContext } from "./command.ts";
import { exitCode } from "./errors.ts";
import { realTerminal } from "./output/terminal.ts";

/** The process around a command: its terminal and its standard input. Without a signal, SIGINT ends the process immediately. */
export function realContext(signal: AbortSignal = new AbortController().signal): CommandContext {
  const system = realSystem();
  for (const stream of [process.stdout, process.stderr]) stream.on("error", endQuietly);
  return {
    system,
    terminal: realTerminal(system),
    signal,
    readStandardInput: async () => await buffer(addAbortSignal(signal, process.stdin)),
  };
}

/** Aborts when a user breaks the command off; a second Ctrl-C ends the process immediately. */
export function brokenOff(): AbortSignal {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  return stop.signal;
}

/** A reader that has seen enough, such as `head`, closes the pipe; that is no fault of anybody's. */
function endQuietly(error: Error): void {
  if (!("code" in error) || error.code !== "EPIPE") throw error;
  process.exit(exitCode.unheard);
}
