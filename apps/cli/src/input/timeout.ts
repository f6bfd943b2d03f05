import { usageError } from "../errors.ts";
import type { Invocation } from "./invocation.ts";

/** The flag `--timeout` in milliseconds. */
export function timeoutMs(invocation: Invocation, byDefault: number): number {
  const seconds = invocation.text("timeout");
  if (seconds === undefined) return byDefault;
  if (!/^\d{1,6}$/.test(seconds)) throw usageError("--timeout must be a number of seconds");
  return Number(seconds) * 1_000;
}
