import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import type { System } from "../system/system.ts";

/** How often the process is looked at. */
const everyMs = 10_000;

/** Above this share of busy time, a collection would be noticed. */
const quietShare = 0.05;

/** Less is not worth a collection. */
const leastGrowthBytes = 16 * 1024 * 1024;

export interface MemoryUse {
  /** Share of the last while in which the event loop worked. */
  readonly utilization: number;
  readonly residentBytes: number;
  /** Memory of the process after our last collection; undefined before the first. */
  readonly afterLastBytes: number | undefined;
}

/** Whether a full collection is due: nothing happens, and something did since the last one. */
export function isCollectionDue({ utilization, residentBytes, afterLastBytes = 0 }: MemoryUse): boolean {
  return utilization < quietShare && residentBytes - afterLastBytes >= leastGrowthBytes;
}

/** Dependencies of a collection; those of the process, or a test's. */
export interface IdleCollectionOptions {
  readonly system: System;
  /** Collects everything and gives memory back to the system. */
  readonly collect: () => Promise<void>;
  readonly residentBytes: () => number;
  /** Share of the time since the last call in which the event loop worked. */
  readonly utilization: () => number;
}

/**
 * Gives memory back after a burst of work. V8 collects when memory is requested: an operator that has installed something and then rests keeps
 * the garbage of it for many minutes. Disposing ends it.
 */
export function collectWhenIdle(options: IdleCollectionOptions): Disposable {
  const { system, collect, residentBytes, utilization } = options;
  let afterLastBytes: number | undefined;
  let timer = system.setTimer(everyMs, observation);
  let isFinished = false;
  function observation(): void {
    void act();
  }
  async function act(): Promise<void> {
    if (isCollectionDue({ utilization: utilization(), residentBytes: residentBytes(), afterLastBytes })) {
      await collect();
      afterLastBytes = residentBytes();
    }
    if (!isFinished) timer = system.setTimer(everyMs, observation);
  }
  return {
    [Symbol.dispose]: () => {
      isFinished = true;
      timer.cancel();
    },
  };
}

/** The garbage collection of this process. Node has no function for it without the flag, which changes nothing else. */
export function processCollection(): Omit<IdleCollectionOptions, "system"> {
  setFlagsFromString("--expose-gc");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a new context has what the flag exposes, and Node's types know its name
  const gc = runInNewContext("gc") as NonNullable<typeof globalThis.gc>;
  setFlagsFromString("--no-expose-gc");
  let last = performance.eventLoopUtilization();
  return {
    collect: async () => {
      await gc({ type: "major", flavor: "last-resort", execution: "async" });
    },
    residentBytes: () => process.memoryUsage.rss(),
    utilization: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
  };
}
