import { realSystem, type System, type Timer } from "@quartermaster/runtime";

/**
 * The real system in which waits of two seconds and more never end. What an operator does under it comes from an event, from the response to
 * a request or from an immediate repetition: no resync and no retry that looks again after a while can hide a wake-up that is lost.
 *
 * @example
 * await bench.operate({ system: eventDrivenSystem() });
 */
export function eventDrivenSystem(): System {
  const system = realSystem();
  const never: Timer = { cancel: () => undefined, [Symbol.dispose]: () => undefined };
  return {
    ...system,
    setTimer: (delayMs, callback) => (delayMs >= longMs ? never : system.setTimer(delayMs, callback)),
    sleep: async (delayMs, signal) => {
      if (delayMs < longMs) {
        await system.sleep(delayMs, signal);
        return;
      }
      await aborted(signal);
    },
  };
}

const longMs = 2_000;

/** Rejects with the signal's reason as soon as it aborts, and never resolves. */
async function aborted(signal: AbortSignal | undefined): Promise<never> {
  signal?.throwIfAborted();
  return await new Promise((_resolve, reject) => {
    signal?.addEventListener("abort", () => {
      reject(signal.reason);
    });
  });
}
