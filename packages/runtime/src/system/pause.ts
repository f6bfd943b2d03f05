import type { System } from "./system.ts";

/** Waits for the time; false, without an error, when the signal aborts before it is over. */
export async function pause(
  system: Pick<System, "sleep">,
  delayMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await system.sleep(delayMs, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
