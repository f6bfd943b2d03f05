import { randomUUID } from "node:crypto";

import type { System, Timer } from "./system.ts";
import { UrgentWork } from "./urgent-work.ts";

/** The longest delay that Node's timers hold; more fires immediately. */
const longestDelayMs = 2 ** 31 - 1;

/** A thread has one event loop, however many systems are made on it. */
const urgentWork = new UrgentWork({
  monotonicMs: () => performance.now(),
  setTimer,
  sleep,
  turn: async () => {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  },
});

/** The machine's own clock, timers, randomness and environment. */
export function realSystem(): System {
  return {
    env: process.env,
    wallMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    setTimer,
    sleep,
    yieldToOthers: async () => {
      await urgentWork.goesFirst();
    },
    beginUrgent: () => urgentWork.begin(),
    random: () => Math.random(),
    uuid: () => randomUUID(),
  };
}

/** A sleep on top of any timer: resolves after the delay, rejects with the signal's reason when that comes first. */
export async function sleepWith(
  timer: System["setTimer"],
  delayMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const giveUp = (): void => {
    reject(signal?.reason);
  };
  const armed = timer(delayMs, () => {
    resolve(undefined);
  });
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    await promise;
  } finally {
    armed.cancel();
    signal?.removeEventListener("abort", giveUp);
  }
}

async function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  await sleepWith(setTimer, delayMs, signal);
}

function setTimer(delayMs: number, callback: () => void): Timer {
  let remainingMs = Math.max(0, delayMs);
  let handle: NodeJS.Timeout;
  const arm = (): void => {
    const stepMs = Math.min(remainingMs, longestDelayMs);
    remainingMs -= stepMs;
    handle = setTimeout(remainingMs > 0 ? arm : callback, stepMs);
  };
  arm();
  const cancel = (): void => {
    clearTimeout(handle);
  };
  return { cancel, [Symbol.dispose]: cancel };
}
