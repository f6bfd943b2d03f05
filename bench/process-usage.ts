import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

/** What a process has taken of the machine; processor time in steps of 10 ms, as the kernel counts it. */
export interface ProcessUsage {
  readonly cpuMs: number;
  readonly residentBytes: number;
  readonly peakBytes: number;
}

/** A program that ran to its end. */
export interface Ran extends ProcessUsage {
  readonly wallMs: number;
  readonly code: number;
  /** The last lines of what it complained of. */
  readonly complaint: string;
}

/** Reads /proc; undefined once the process no longer exists. */
export function usageOf(pid: number | undefined): ProcessUsage | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    const bytes = (name: string): number =>
      1024 * Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
    const cpuMs = (Number(fields[11]) + Number(fields[12])) * 10;
    return { cpuMs, residentBytes: bytes("VmRSS"), peakBytes: bytes("VmHWM") };
  } catch {
    // It ended while we looked.
    return undefined;
  }
}

/** Runs a program and looks at it every 10 ms, because a process that ended tells nothing any more. */
export async function runMeasured(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  const startedMs = performance.now();
  const child = spawn(command, [...args], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...env },
  });
  const ended = endOf(child);
  const complaint = text(child.stderr);
  let usage: ProcessUsage = { cpuMs: 0, residentBytes: 0, peakBytes: 0 };
  let code: number | undefined;
  while (code === undefined) {
    const seen = usageOf(child.pid);
    // A process on its way out has no memory any more.
    if (seen !== undefined && seen.peakBytes > 0) usage = seen;
    code = await Promise.race([ended, sleep(10, undefined)]);
  }
  const wallMs = performance.now() - startedMs;
  return { ...usage, wallMs, code, complaint: (await complaint).trim().split("\n").slice(-2).join(" ") };
}

async function endOf(child: ChildProcess): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once("error", reject).once("exit", (code) => resolve(code ?? 1));
  return await promise;
}
