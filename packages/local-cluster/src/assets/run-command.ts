import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";

import { codeOf } from "../system/system.ts";

/** A program to run to its end. */
export interface CommandRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** File descriptor that gets standard output instead of the result. */
  readonly stdoutFd?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How it ended; of each stream only the last 64 KiB are kept. */
export interface CommandResult {
  /** Exit code as a shell gives it: 126 not executable, 127 not found, above 128 ended by a signal. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program in a process group of its own, which is killed as a whole when the signal aborts (then this throws the
 * signal's reason) and also when this process dies in whatever way: no compiler keeps running for no one.
 */
export async function runCommand(request: CommandRequest): Promise<CommandResult> {
  const { signal } = request;
  signal?.throwIfAborted();
  const child = spawn("/bin/sh", ["-c", END_WITH_PARENT, "sh", request.command, ...request.args], {
    cwd: request.cwd,
    env: { ...request.env },
    detached: true,
    stdio: ["pipe", request.stdoutFd ?? "pipe", "pipe"],
  });
  const stdout = keepTail(child.stdout);
  const stderr = keepTail(child.stderr);
  const endGroup = (): void => killGroup(child);
  signal?.addEventListener("abort", endGroup, { once: true });
  try {
    const code = await exitOf(child);
    signal?.throwIfAborted();
    return { code, stdout: stdout(), stderr: stderr() };
  } finally {
    signal?.removeEventListener("abort", endGroup);
  }
}

/**
 * The shell leads the group. Its standard input is a pipe from us: when we die, `read` sees the end of it and the group is
 * killed. When the program ends on its own the watcher goes the same way, by a signal that the shell alone ignores. Builtins
 * only: a PATH without anything on it must not look like our death.
 */
const END_WITH_PARENT = `
exec 3<&0
{ read -r end <&3; kill -KILL -$$; } >/dev/null 2>&1 &
"$@" </dev/null 3<&- &
wait $!
code=$?
trap '' TERM
kill -TERM -$$
exit $code`;

const TAIL_CHARACTERS = 65_536;

async function exitOf(child: ChildProcess): Promise<number> {
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 137));
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    // ESRCH: it ended on its own just now.
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

function keepTail(stream: Readable | null): () => string {
  let tail = "";
  stream?.setEncoding("utf8").on("data", (chunk: string) => {
    tail = (tail + chunk).slice(-TAIL_CHARACTERS);
  });
  return () => tail;
}
