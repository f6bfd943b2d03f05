import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { codeOf, type System } from "../system/system.ts";

/**
 * A process as the kernel knows it. A pid alone is reused; pid and start time together name one process for as long as
 * the machine is up.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat: clock ticks between boot and the start of the process. */
  readonly startTicks: string;
}

/**
 * Identity of a living process, or undefined when there is none with this pid. A zombie counts as dead once its last thread
 * has ended: until then it still holds its files and ports.
 */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const line = readIfThere(`/proc/${pid}/stat`);
  return line === undefined ? undefined : parseStatLine(line);
}

/** True while exactly this process lives; false once its pid belongs to a stranger. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startTicks === identity.startTicks;
}

/** Reads a line of /proc/PID/stat. The command name may hold spaces and parentheses, so fields count from its last ")". */
export function parseStatLine(line: string): ProcessIdentity | undefined {
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const pid = Number.parseInt(line, 10);
  const state = fields[0];
  const threadCount = Number(fields[17]);
  const startTicks = fields[19];
  const isDead = state === "X" || (state === "Z" && threadCount <= 1);
  if (!Number.isInteger(pid) || startTicks === undefined || isDead) return undefined;
  return { pid, startTicks };
}

/** Changes with every boot; identities recorded under another boot id are dead. */
export function readBootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

/** Resident memory of a living process in bytes. */
export function residentBytes(pid: number): number | undefined {
  const status = readIfThere(`/proc/${pid}/status`);
  const kilobytes = status?.match(/^VmRSS:\s+(\d+) kB$/m)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // ENOENT or ESRCH: the process has ended.
    return undefined;
  }
}

/** A process that a cluster's directory has on record. */
export interface RecordedProcess {
  readonly name: string;
  readonly identity: ProcessIdentity;
}

/** Everything on record below `directory`, dead or alive. A record that was cut off belongs to a process that never ran. */
export function readRecords(directory: string): readonly RecordedProcess[] {
  return listIfThere(join(directory, "pids")).flatMap((file) => {
    const identity = parseStatLine(readFileSync(join(directory, "pids", file), "utf8"));
    return identity === undefined ? [] : [{ name: file.slice(0, file.lastIndexOf(".")), identity }];
  });
}

/**
 * Ends every recorded process that still is the one on record, until a check finds none alive: a process may put itself on
 * record while we end the others. A stranger that took over a recorded pid has another start time and is left alone.
 */
export async function endRecorded(directory: string, system: System): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const alive = readRecords(directory).filter(({ identity }) => isAlive(identity));
    if (alive.length === 0) return;
    for (const { identity } of alive) endProcess(identity);
    await system.sleep(10);
  }
}

/** SIGKILL to exactly this process; a process that ended meanwhile is what we wanted. */
function endProcess(identity: ProcessIdentity): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, "SIGKILL");
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

/** Ten seconds in all: a process in an uninterruptible wait cannot be ended sooner. */
const MAX_ROUNDS = 1000;

function listIfThere(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
