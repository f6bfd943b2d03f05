import { randomBytes } from "node:crypto";
import { homedir } from "node:os";
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
    await sleepFor(ms, undefined, signal === undefined ? {} : { signal });
  },
  randomHex: (bytes) => randomBytes(bytes).toString("hex"),
};
