import { realSystem } from "../../src/system/real-system.ts";
import type { System } from "../../src/system/system.ts";

/** The real system with time running `factor` times as fast: back-off is waited out, but not for long. */
export function hurriedSystem(factor = 10): System {
  const system = realSystem();
  return {
    ...system,
    monotonicMs: () => system.monotonicMs() * factor,
    setTimer: (delayMs, callback) => system.setTimer(delayMs / factor, callback),
    sleep: async (delayMs, signal) => {
      await system.sleep(delayMs / factor, signal);
    },
  };
}
