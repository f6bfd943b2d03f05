import { readdirSync, readFileSync } from "node:fs";

/** Pids of all processes that have every one of the texts in their arguments; zombies have none. */
export function processesMentioning(...texts: readonly string[]): readonly number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry) && texts.every((text) => argumentsOf(entry).includes(text)))
    .map(Number);
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // It ended while we looked.
    return "";
  }
}
