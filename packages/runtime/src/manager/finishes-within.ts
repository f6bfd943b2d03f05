import type { System } from "../system/system.ts";

/** Whether the work is over within the limit; it goes on otherwise, and nobody waits for it. Rejects when the work does. */
export async function finishesWithin(
  work: Promise<unknown>,
  system: System,
  limitMs: number,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = system.setTimer(limitMs, () => {
    resolve(false);
  });
  try {
    return await Promise.race([work.then(() => true), promise]);
  } finally {
    timer.cancel();
  }
}
