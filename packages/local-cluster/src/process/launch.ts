import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdirSync, openSync, closeSync } from "node:fs";
import { dirname, join } from "node:path";

import { type System, toolPath } from "../system/system.ts";
import { identifyProcess, isAlive, type ProcessIdentity } from "./process-identity.ts";

export interface LaunchRequest {
  /** Name of the record and of the log file, e.g. `kube-apiserver`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The cluster's directory: the record goes to `pids/`, the log to `logs/`. */
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Network namespace to enter first (a file made by `unshare --net=`). */
  readonly networkNamespace?: string | undefined;
  /** cgroup.procs files the process writes itself into before it becomes the command; its children inherit them. */
  readonly cgroupProcsFiles?: readonly string[] | undefined;
}

/** A component we started. */
export interface RunningProcess {
  readonly name: string;
  readonly pid: number;
  readonly identity: ProcessIdentity;
  readonly logPath: string;
  isRunning(): boolean;
  /** Sends the signal if, and only if, the pid is still this process. */
  signal(signal: NodeJS.Signals): void;
  /** Resolves once the process no longer exists; false when `timeoutMs` passed first. */
  gone(timeoutMs: number): Promise<boolean>;
}

/**
 * Writes its own pid and start time to the record before it becomes the command, so that there is no moment at which the
 * command runs without being on record: a launcher may be killed right after fork. A deleted directory of the record means that the
 * cluster is being destroyed, and then nothing is started.
 */
const RECORD_THEN_EXEC = `
read -r stat < /proc/self/stat || exit 1
printf '%s\\n' "$stat" > "$1.$$" || exit 1
shift
while [ "$1" != "--" ]; do echo $$ > "$1" || exit 1; shift; done
shift
exec "$@"`;

/** Starts a component in its own session, recorded and logged, with stdin closed. */
export function launch(request: LaunchRequest, system: System): RunningProcess {
  const { name, directory } = request;
  const logPath = join(directory, "logs", `${name}.log`);
  const recordStem = join(directory, "pids", name);
  mkdirSync(dirname(logPath), { recursive: true });
  mkdirSync(dirname(recordStem), { recursive: true });
  const log = openSync(logPath, "a");
  try {
    const [command, ...args] = insideNamespace(request);
    const wrapped = [
      "-c",
      RECORD_THEN_EXEC,
      "sh",
      recordStem,
      ...(request.cgroupProcsFiles ?? []),
      "--",
      command,
      ...args,
    ];
    const child = spawn("/bin/sh", wrapped, {
      cwd: directory,
      detached: true,
      stdio: ["ignore", log, log],
      env: { PATH: toolPath(system), HOME: directory, ...request.env },
    });
    return describeChild(name, logPath, { child, system });
  } finally {
    closeSync(log);
  }
}

function insideNamespace({ command, args, networkNamespace }: LaunchRequest): readonly [string, ...string[]] {
  return networkNamespace === undefined
    ? [command, ...args]
    : ["nsenter", `--net=${networkNamespace}`, "--", command, ...args];
}

function describeChild(
  name: string,
  logPath: string,
  { child, system }: { readonly child: ChildProcess; readonly system: System },
): RunningProcess {
  child.once("error", () => undefined); // spawn failures show as an immediate exit, which every caller watches for
  child.unref(); // a detached cluster outlives us; an attached one is ended by its guardian
  const pid = child.pid ?? 0;
  const identity = identifyProcess(pid) ?? { pid, startTicks: "never started" };
  const isRunning = (): boolean => isAlive(identity);
  return {
    name,
    pid,
    identity,
    logPath,
    isRunning,
    signal: (signal) => {
      if (isRunning()) process.kill(pid, signal);
    },
    gone: async (timeoutMs) => await waitUntilExited(identity, timeoutMs, system),
  };
}

async function waitUntilExited(
  identity: ProcessIdentity,
  timeoutMs: number,
  system: System,
): Promise<boolean> {
  const deadline = system.nowMs() + timeoutMs;
  while (isAlive(identity)) {
    if (system.nowMs() > deadline) return false;
    await system.sleep(10);
  }
  return true;
}
