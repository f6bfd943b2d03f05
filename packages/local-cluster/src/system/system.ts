import { randomBytes } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleepFor } from "node:timers/promises";

/** The only door to clock, timers, randomness and environment in this package. */
export interface System {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  /** Wall clock in milliseconds since the epoch. */
  nowMs(): number;
  /** Resolves after `ms`, rejects as soon as the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** `bytes` random bytes as lower-case hex. */
  randomHex(bytes: number): string;
}

/** The real machine. */
export const realSystem: System = {
  env: process.env,
  homeDirectory: homedir(),
  nowMs: () => Date.now(),
  sleep: async (ms, signal) => {
    await sleepFor(ms, undefined, { signal });
  },
  randomHex: (bytes) => randomBytes(bytes).toString("hex"),
};

/** Directory of the user's cache with this name: outside of every repository. */
export function userCache(
  { env, homeDirectory }: Pick<System, "env" | "homeDirectory">,
  name: string,
): string {
  const named = env["XDG_CACHE_HOME"] ?? "";
  return join(named === "" ? join(homeDirectory, ".cache") : named, "quartermaster", name);
}

/** The code of a system call's error (`ENOENT`, …); empty for anything else. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** True when writing to a file went wrong, as opposed to what a network did. */
export function isFileError(error: unknown): boolean {
  return (
    error instanceof Error && "syscall" in error && ["write", "open", "mkdir"].includes(String(error.syscall))
  );
}

/** The search path with the usual directories: a plain `su` leaves the administrator's out, and a guardian has none at all. */
export function toolPath(system: System): string {
  return [system.env["PATH"] ?? "", ...USUAL_DIRECTORIES].filter(Boolean).join(":");
}

const USUAL_DIRECTORIES = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
